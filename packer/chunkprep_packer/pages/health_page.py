"""The health page: what the log of packs, the audit and the failures say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from itertools import islice
from typing import Any

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.log_figures import log_figures
from chunkprep_packer.logged_result import logged_result
from chunkprep_store import Finding, PackRecord, Store
from chunkprep_store.audit.lists import UnreadableError

MOST_FINDINGS = 200
"""Audit findings shown; `chunkprep audit` gives all."""

MOST_FAILURES = 200
"""Failures shown; `chunkprep failures` gives all."""

DAYS = 60
"""Days of the calendar shown of what changes over time, up to the latest pack."""

FATES = ("packed", "truncated", "no_room", "too_large", "none")


@dataclass(slots=True)
class _Day:
    """Sums over the packs of one day."""

    packs: int = 0
    fill: float = 0.0
    unused: int = 0
    cutting: int = 0
    rank1: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, record: PackRecord, result: Mapping[str, Any]) -> None:
        self.packs += 1
        self.fill += record.used_tokens / record.slot
        self.unused += max(record.slot - record.used_tokens, 0)
        self.cutting += bool(result["log"]["truncation_fired"])
        self.rank1[result["log"]["rank1"]] += 1
        self.skipped.update(d["reason"] for d in result["decisions"] if d["outcome"] == "skipped")

    def record(self, day: str) -> dict[str, Any]:
        return {
            "day": day,
            "packs": self.packs,
            "mean_fill": round(self.fill / self.packs, 3),
            "mean_unused": round(self.unused / self.packs, 1),
            "truncated_packs": self.cutting,
            "rank1": {fate: self.rank1[fate] for fate in FATES},
            "skipped": dict(sorted(self.skipped.items())),
        }


class _Days:
    """Sums by day, made while records pass by, the oldest first."""

    def __init__(self) -> None:
        self.found: defaultdict[str, _Day] = defaultdict(_Day)

    def watch(self, records: Iterable[PackRecord]) -> Iterator[PackRecord]:
        for record in records:
            with suppress(UnreadableError):  # the figures count it
                result = logged_result(record)
                self.found[(iso(record.at) or "")[:10]].add(record, result)
            yield record

    def records(self) -> list[dict[str, Any]]:
        """The days with packs among the latest DAYS of the calendar."""
        if not self.found:
            return []
        start = date.fromisoformat(max(self.found)) - timedelta(days=DAYS - 1)
        return [
            day.record(name)
            for name, day in sorted(self.found.items())
            if name >= start.isoformat()
        ]


def health_facts(
    store: Store,
    collection: str,
    *,
    at: Moment,
    since: Moment | None = None,
    findings: Iterable[Finding] | None = None,
) -> dict[str, Any]:
    """Everything the page shows; `findings` are the audit's (None: what the store alone can tell).

    Raises NotFoundError for an unknown collection.
    """
    days = _Days()
    packs = asdict(log_figures(days.watch(store.packs(collection, since=since))))
    signatures = packs.pop("signatures")
    if findings is None:
        findings = store.audit(collection, now=at)
    found = list(islice(findings, MOST_FINDINGS + 1))
    failures = store.failures(collection)
    return {
        "collection": collection,
        "at": iso(at),
        "since": iso(since),
        "packs": {**packs, "first": iso(packs["first"]), "last": iso(packs["last"])},
        "steps": _steps(packs["fill"]),
        "days": days.records(),
        "signatures": signatures,
        "findings": [finding._asdict() for finding in found[:MOST_FINDINGS]],
        "more_findings": len(found) > MOST_FINDINGS,
        "failures": [
            {
                "document": failure.document,
                "code": failure.code,
                "attempts": failure.attempts,
                "last_at": iso(failure.last_at),
                "message": failure.message,
                "remedy": failure.remedy,
            }
            for failure in failures[:MOST_FAILURES]
        ],
        "failure_count": len(failures),
    }


def _steps(fill: tuple[int, ...]) -> dict[str, int]:
    last = len(fill) - 1
    return {
        **{f"{k * 10} to {k * 10 + 10} %": fill[k] for k in range(last)},
        "over the slot": fill[last],
    }
