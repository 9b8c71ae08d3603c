"""The health page: what the log of packs, the audit and the failures say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

import orjson

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.log_figures import log_figures
from chunkprep_store import PackRecord, Store

MOST_FINDINGS = 200
"""Audit findings shown; `chunkprep audit` gives all."""

DAYS = 60
"""Days shown of fill and rank 1 over time, the latest."""

FATES = ("packed", "truncated", "no_room", "too_large", "none")


class _Days:
    """Sums by day, made while records pass by."""

    def __init__(self) -> None:
        self.packs: Counter[str] = Counter()
        self.fill: defaultdict[str, float] = defaultdict(float)
        self.fates: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def watch(self, records: Iterable[PackRecord]) -> Iterator[PackRecord]:
        for record in records:
            day = (iso(record.at) or "")[:10]
            self.packs[day] += 1
            self.fill[day] += record.used_tokens / record.slot
            self.fates[day][orjson.loads(record.result_json)["log"]["rank1"]] += 1
            yield record

    def record(self) -> list[dict[str, Any]]:
        return [
            {
                "day": day,
                "packs": self.packs[day],
                "mean_fill": round(self.fill[day] / self.packs[day], 3),
                "rank1": {fate: self.fates[day][fate] for fate in FATES},
            }
            for day in sorted(self.packs)[-DAYS:]
        ]


def health_facts(
    store: Store, collection: str, *, at: Moment, since: Moment | None = None
) -> dict[str, Any]:
    """Everything the page shows. Raises NotFoundError for an unknown collection."""
    days = _Days()
    packs = asdict(log_figures(days.watch(store.packs(collection, since=since))))
    signatures = packs.pop("signatures")
    found = list(islice(store.audit(collection, now=at), MOST_FINDINGS + 1))
    return {
        "collection": collection,
        "at": iso(at),
        "since": iso(since),
        "packs": {**packs, "first": iso(packs["first"]), "last": iso(packs["last"])},
        "steps": _steps(packs["fill"]),
        "days": days.record(),
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
            for failure in store.failures(collection)
        ],
    }


def _steps(fill: tuple[int, ...]) -> dict[str, int]:
    last = len(fill) - 1
    return {
        **{f"{k * 10} to {k * 10 + 10} %": fill[k] for k in range(last)},
        "over the slot": fill[last],
    }
