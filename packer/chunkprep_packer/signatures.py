"""What a log of packs says about sizes, budget and splitting, with advice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chunkprep_packer.logged_result import logged_result
from chunkprep_packer.result import FOR_SIZE
from chunkprep_store import PackRecord
from chunkprep_store.audit.lists import UnreadableError

MIN_PACKS = 5
"""Fewer packs than this say nothing yet."""

FULL = 0.9
"""A slot filled to this share, with candidates skipped for size, is exhausted."""

EMPTY = 0.6
"""A slot filled to at most this share, though candidates were skipped for size, is 40 % empty."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A pattern in the log: in `share` (0 to 1) of `packs` packs, and what to do about it.

    `figures` are the numbers behind it.
    """

    code: str
    share: float
    packs: int
    figures: Mapping[str, float]
    message: str
    advice: str


@dataclass(slots=True)
class Tally:
    """Sums over packs that offered anything to choose from; `unreadable` ones are in none."""

    packs: int = 0
    unreadable: int = 0
    fill: float = 0.0
    exhausted: int = 0
    empty: int = 0
    empty_fill: float = 0.0
    rank1_too_long: int = 0
    rank1_too_large: int = 0
    truncation: int = 0
    packed: int = 0
    passed_over: int = 0

    def add(self, result: Mapping[str, Any]) -> None:
        """Add one pack (`log` and `decisions` of a PackResult), if any candidate survived."""
        log = result["log"]
        if log["rank1"] == "none":
            return
        self.packs += 1
        self.fill += log["fill"]
        self.packed += log["packed"]
        self.passed_over += _passed_over(result["decisions"])
        self.truncation += log["truncation_fired"]
        self.rank1_too_large += log["rank1"] == "too_large"
        self.rank1_too_long += log["rank1"] in ("too_large", "truncated")
        if log["skipped_for_size"]:
            self.exhausted += log["fill"] >= FULL
            if log["fill"] <= EMPTY:
                self.empty += 1
                self.empty_fill += log["fill"]


def _passed_over(decisions: Sequence[Mapping[str, Any]]) -> int:
    """Candidates skipped for size though a worse-ranked one was packed whole."""
    last = max((d["rank"] for d in decisions if d["outcome"] == "packed"), default=0)
    return sum(1 for d in decisions if d["reason"] in FOR_SIZE and d["rank"] < last)


def tally(records: Iterable[PackRecord]) -> Tally:
    """The sums of a log."""
    sums = Tally()
    for record in records:
        try:
            sums.add(logged_result(record))
        except UnreadableError:
            sums.unreadable += 1
    return sums


def signatures(records: Iterable[PackRecord]) -> list[Signature]:
    """The signatures that a log shows, the most frequent first."""
    return of_tally(tally(records))


def of_tally(sums: Tally) -> list[Signature]:
    """The signatures in these sums, the most frequent first."""
    if sums.packs < MIN_PACKS:
        return []
    tests = (_exhausted, _rank1_too_long, _empty, _skip_rate, _truncation)
    found = [signature for test in tests if (signature := test(sums)) is not None]
    return sorted(found, key=lambda signature: (-signature.share, signature.code))


def _exhausted(sums: Tally) -> Signature | None:
    share = sums.exhausted / sums.packs
    if share < 0.8:
        return None
    return Signature(
        "always_exhausted",
        round(share, 3),
        sums.packs,
        {"exhausted": sums.exhausted, "mean_fill": round(sums.fill / sums.packs, 3)},
        f"{sums.exhausted} of {sums.packs} packs filled the slot and left candidates out",
        "a bigger budget would help: try `chunkprep replay --budget N` and see what enters",
    )


def _rank1_too_long(sums: Tally) -> Signature | None:
    share = sums.rank1_too_long / sums.packs
    if share < 0.05:
        return None
    return Signature(
        "rank1_too_long",
        round(share, 3),
        sums.packs,
        {"rank1_too_large": sums.rank1_too_large, "rank1_cut_or_left_out": sums.rank1_too_long},
        f"rank 1 was cut or left out in {sums.rank1_too_long} of {sums.packs} packs",
        "a chunking problem: split smaller with `chunkprep resplit --cap N`",
    )


def _empty(sums: Tally) -> Signature | None:
    share = sums.empty / sums.packs
    if share < 0.3:
        return None
    mean = sums.empty_fill / sums.empty
    return Signature(
        "chronically_empty",
        round(share, 3),
        sums.packs,
        {"empty": sums.empty, "their_mean_fill": round(mean, 3)},
        f"{sums.empty} of {sums.packs} packs left candidates out for size, yet filled only "
        f"{mean:.0%} of the slot",
        "sizes and budget do not match: lower the cap, or choose a budget that is a multiple of it",
    )


def _skip_rate(sums: Tally) -> Signature | None:
    wanted = sums.packed + sums.passed_over
    share = sums.passed_over / wanted if wanted else 0.0
    if share < 0.25:
        return None
    return Signature(
        "high_skip_rate",
        round(share, 3),
        sums.packs,
        {"passed_over": sums.passed_over, "packed": sums.packed},
        f"{sums.passed_over} candidates were too long for the room while {sums.packed} went in, "
        f"worse-ranked ones among them",
        "look for outliers among the largest blocks of `chunkprep report`, or retrieve fewer",
    )


def _truncation(sums: Tally) -> Signature | None:
    share = sums.truncation / sums.packs
    if share < 0.2:
        return None
    return Signature(
        "truncation_routine",
        round(share, 3),
        sums.packs,
        {"truncated_packs": sums.truncation},
        f"{sums.truncation} of {sums.packs} packs cut a block: a last resort has become routine",
        "the budget is too small for the corpus: raise it, or split smaller",
    )
