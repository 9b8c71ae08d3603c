"""One pack beside another of the same candidates: what changed, in figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkprep_packer.decide import Plan
from chunkprep_packer.summary import figures

TOP = 5
"""Candidates that count as the top of a ranking."""


class Figures(NamedTuple):
    """What one pack achieved.

    `score_sum` is the sum of the packed candidates' scores, `top_share` the share (0 to 1) of the
    five best-ranked survivors (TOP) that are packed, `small_share` the share of packed blocks that
    cost fewer tokens than the size asked about.
    """

    used_tokens: int
    fill: float
    packed: int
    skipped: int
    truncated: int
    score_sum: float
    top_share: float
    small_share: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A logged pack before and after: figures, and the chunk ids that enter and leave."""

    request_id: str
    before: Figures
    after: Figures
    enters: tuple[str, ...]
    leaves: tuple[str, ...]
    reordered: bool


@dataclass(frozen=True, slots=True)
class Totals:
    """Comparisons added up: means of the figures, and how many packs changed."""

    requests: int
    changed: int
    before: Figures
    after: Figures


def measure_plan(plan: Plan, small: int) -> Figures:
    """The figures of a plan; blocks of fewer than `small` tokens are small."""
    log, taken = figures(plan), plan.selection.taken
    top = plan.screened.survivors[:TOP]
    return Figures(
        log.used_tokens,
        log.fill,
        log.packed,
        log.skipped,
        log.truncated,
        round(sum(plan.ranked[at].score for at in taken), 6),
        _share(sum(1 for at in top if at in taken), len(top)),
        _share(sum(1 for one in taken.values() if one.tokens < small), len(taken)),
    )


def compare(request_id: str, before: Plan, after: Plan, *, small: int) -> Comparison:
    """What `after` does otherwise than `before`; sizes in tokens."""
    old, new = _packed(before), _packed(after)
    return Comparison(
        request_id,
        measure_plan(before, small),
        measure_plan(after, small),
        tuple(i for i in new if i not in set(old)),
        tuple(i for i in old if i not in set(new)),
        old != new and set(old) == set(new),
    )


def total(comparisons: Iterable[Comparison]) -> Totals:
    """All comparisons in one: means per pack."""
    found = list(comparisons)
    return Totals(
        len(found),
        sum(1 for c in found if c.enters or c.leaves or c.reordered or c.before != c.after),
        _mean([c.before for c in found]),
        _mean([c.after for c in found]),
    )


def _packed(plan: Plan) -> list[str]:
    rows = plan.screened.rows
    return [row.chunk_id for at in plan.sequence if (row := rows[at]) is not None]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def _mean(found: Sequence[Figures]) -> Figures:
    count = max(len(found), 1)
    sums = [sum(column) for column in zip(*found, strict=True)] or [0] * len(Figures._fields)
    return Figures._make(round(value / count, 3) for value in sums)
