"""Which survivors are packed: the floor, then the fill, then the knife."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_packer.fill import fill, fill_order
from chunkprep_packer.floor import lay_floor
from chunkprep_packer.request import PackOptions
from chunkprep_packer.result import FOR_SIZE
from chunkprep_packer.truncate import deepest


class Room(NamedTuple):
    """Tokens left for candidates, those of the slot minus pins, and the most blocks (or None)."""

    tokens: int
    whole: int
    blocks: int | None = None


class Taken(NamedTuple):
    """What a packed position costs, and where it was cut."""

    tokens: int
    cut: Boundary | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The survivors, best first, with what is known by position: row, cost, surcharge, score."""

    survivors: Sequence[int]
    rows: Sequence[ChunkRow | None]
    costs: Sequence[int]
    surcharges: Sequence[int]
    scores: Sequence[float]


class Selection(NamedTuple):
    """What is taken, why the rest is not, and the tokens of what is taken."""

    taken: dict[int, Taken]
    missed: dict[int, str]
    used: int


def select(offer: Offer, room: Room, options: PackOptions) -> Selection:
    """Place rank 1, fill the room with whole blocks, then cut where the caller allows it."""
    if not offer.survivors:
        return Selection({}, {}, 0)
    taken, missed, order = _floor(offer, room, options)
    left = room.tokens - sum(t.tokens for t in taken.values())
    stops = options.strategy == "stop_at_first_miss"
    if stops and missed:
        missed.update(dict.fromkeys(order, "not_reached"))
    else:
        filled = fill(
            order,
            offer.costs,
            left,
            whole=room.whole,
            most=None if room.blocks is None else room.blocks - len(taken),
            stop_at_first_miss=stops,
        )
        taken.update((at, Taken(offer.costs[at])) for at in filled.packed)
        missed.update(filled.missed)
        left = filled.room
    if options.truncate == "any":
        _cut(offer, room, options, taken, missed, left)
    return Selection(taken, missed, sum(t.tokens for t in taken.values()))


def _floor(
    offer: Offer, room: Room, options: PackOptions
) -> tuple[dict[int, Taken], dict[int, str], Sequence[int]]:
    """Rank 1 where the floor places or misses it, and the order in which the rest is tried."""
    first = offer.survivors[0]
    order = fill_order(options.strategy, offer.survivors, offer.costs, offer.scores)
    if room.blocks is not None and room.blocks < 1:
        return {}, {}, order
    row = offer.rows[first]
    assert row is not None
    floored = lay_floor(row, offer.costs[first], room.tokens, options, offer.surcharges[first])
    if floored.fate == "open":
        return {}, {}, order
    rest = [at for at in order if at != first]
    if floored.fate == "missed":
        too_large = offer.costs[first] > room.whole
        return {}, {first: "too_large" if too_large else "no_room"}, rest
    return {first: Taken(floored.tokens, floored.cut)}, {}, rest


def _cut(
    offer: Offer,
    room: Room,
    options: PackOptions,
    taken: dict[int, Taken],
    missed: dict[int, str],
    left: int,
) -> None:
    """Cut what was missed for its size into the room left, best-ranked first."""
    for at in offer.survivors:
        if room.blocks is not None and len(taken) >= room.blocks:
            return
        row = offer.rows[at]
        if missed.get(at) not in FOR_SIZE or row is None:
            continue
        cut = deepest(
            row,
            left,
            cut_at=options.cut_at,
            cut_any_kind=options.cut_any_kind,
            surcharge=offer.surcharges[at],
        )
        if cut is not None:
            taken[at] = Taken(cut.block_tokens, cut)
            del missed[at]
            left -= cut.block_tokens
