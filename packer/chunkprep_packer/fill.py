"""Filling the room with whole blocks: integers in, positions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chunkprep_packer.request import Strategy


class Filled(NamedTuple):
    """Positions packed, in the order they were taken, and why others were not."""

    packed: list[int]
    missed: dict[int, str]
    room: int


def fill_order(
    strategy: Strategy, survivors: Sequence[int], costs: Sequence[int], scores: Sequence[float]
) -> Sequence[int]:
    """The order in which positions are tried: as ranked, or by value per token, best first.

    Value is the score; where a score is negative, its distance from the lowest one. Ties go to
    the better-ranked. `costs` (at least 1 token) and `scores` are by position.
    """
    if strategy != "value_per_token" or not survivors:
        return survivors
    base = min(0.0, min(scores[at] for at in survivors))
    return sorted(survivors, key=lambda at: (base - scores[at]) / max(costs[at], 1))


def fill(
    order: Sequence[int],
    costs: Sequence[int],
    room: int,
    *,
    whole: int,
    most: int | None = None,
    stop_at_first_miss: bool = False,
) -> Filled:
    """Take each position that fits the room left, skipping (or stopping at) what does not.

    `whole` is the room of an empty slot: what costs more than that is `too_large`, not `no_room`.
    At most `most` blocks; the rest is `too_many`.
    """
    packed: list[int] = []
    missed: dict[int, str] = {}
    left = len(order) if most is None else most
    stopped = False
    for at in order:
        cost = costs[at]
        if stopped:
            missed[at] = "not_reached"
        elif cost > room:
            missed[at] = "too_large" if cost > whole else "no_room"
            stopped = stop_at_first_miss
        elif left <= 0:
            missed[at] = "too_many"
        else:
            packed.append(at)
            room -= cost
            left -= 1
    return Filled(packed, missed, room)
