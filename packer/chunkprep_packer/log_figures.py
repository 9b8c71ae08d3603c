"""What a log of packs adds up to: fill, what was skipped and why, what was cut, rank 1's fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chunkprep_ingest.model import Moment
from chunkprep_packer.logged_result import logged_result
from chunkprep_packer.signatures import Signature, Tally, of_tally
from chunkprep_store import PackRecord
from chunkprep_store.audit.lists import UnreadableError

FILL_STEPS = 10
"""Steps of the histogram of fill, each a tenth of the slot; one more for packs over it."""


@dataclass(frozen=True, slots=True)
class LogFigures:
    """Sums over a log. Moments in microseconds UTC, None for an empty log.

    `fill[k]` counts packs filled to more than k and at most k + 1 tenths of the slot (the first
    takes empty packs in, the last those over it). `skipped`, `rank1`, `cuts` (boundary kinds) and
    `warnings` (codes) count by name, the most frequent first; `omitted_chars` were cut away.
    `unreadable` packs are in no other sum: their row was damaged.
    """

    packs: int
    first: Moment | None
    last: Moment | None
    mean_slot: float
    mean_used: float
    mean_fill: float
    fill: tuple[int, ...]
    offered: int
    outcomes: Mapping[str, int]
    skipped: Mapping[str, int]
    rank1: Mapping[str, int]
    truncated_packs: int
    cuts: Mapping[str, int]
    omitted_chars: int
    warnings: Mapping[str, int]
    signatures: tuple[Signature, ...]
    unreadable: int = 0


@dataclass(slots=True)
class _Sums:
    packs: int = 0
    unreadable: int = 0
    first: Moment | None = None
    last: Moment | None = None
    slot: int = 0
    used: int = 0
    share: float = 0.0
    offered: int = 0
    truncated_packs: int = 0
    omitted: int = 0
    fill: list[int] = field(default_factory=lambda: [0] * (FILL_STEPS + 1))
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    rank1: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)

    def add(self, record: PackRecord) -> None:
        try:
            result = logged_result(record)
        except UnreadableError:
            self.unreadable += 1
            return
        self.tally.add(result)
        self.packs += 1
        self.first = record.at if self.first is None else min(self.first, record.at)
        self.last = record.at if self.last is None else max(self.last, record.at)
        self.slot += record.slot
        self.used += record.used_tokens
        self.share += record.used_tokens / record.slot
        self.fill[fill_step(record.used_tokens, record.slot)] += 1
        self.warnings.update(warning.partition(":")[0] for warning in record.warnings)
        self._add_result(result)

    def _add_result(self, result: Mapping[str, Any]) -> None:
        log, decisions = result["log"], result["decisions"]
        self.offered += log["offered"]
        self.truncated_packs += bool(log["truncation_fired"])
        self.rank1[log["rank1"]] += 1
        self.outcomes.update(decision["outcome"] for decision in decisions)
        self.skipped.update(d["reason"] for d in decisions if d["outcome"] == "skipped")
        for block in result["blocks"]:
            cut = block["truncated"]
            if cut is not None:
                self.cuts[cut["kind"]] += 1
                self.omitted += cut["omitted_chars"]


def fill_step(used_tokens: int, slot: int) -> int:
    """Which step of the histogram a pack counts in; the last is for packs over their slot."""
    if used_tokens > slot:
        return FILL_STEPS
    return max(0, -(-used_tokens * FILL_STEPS // slot) - 1)


def log_figures(records: Iterable[PackRecord]) -> LogFigures:
    """The sums of a log, in one pass; memory stays flat."""
    sums = _Sums()
    for record in records:
        sums.add(record)
    count = max(sums.packs, 1)
    return LogFigures(
        packs=sums.packs,
        first=sums.first,
        last=sums.last,
        mean_slot=round(sums.slot / count, 1),
        mean_used=round(sums.used / count, 1),
        mean_fill=round(sums.share / count, 3),
        fill=tuple(sums.fill),
        offered=sums.offered,
        outcomes=_ranked(sums.outcomes),
        skipped=_ranked(sums.skipped),
        rank1=_ranked(sums.rank1),
        truncated_packs=sums.truncated_packs,
        cuts=_ranked(sums.cuts),
        omitted_chars=sums.omitted,
        warnings=_ranked(sums.warnings),
        signatures=tuple(of_tally(sums.tally)),
        unreadable=sums.unreadable,
    )


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
