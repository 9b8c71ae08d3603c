"""The floor: what happens to rank 1 before anything else is filled in."""

from __future__ import annotations

from typing import Literal, NamedTuple

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_packer.request import PackOptions
from chunkprep_packer.truncate import deepest

Fate = Literal["packed", "truncated", "missed", "open"]


class Floored(NamedTuple):
    """Rank 1's fate ("open": left to the fill), its tokens, and its cut where it was cut."""

    fate: Fate
    tokens: int = 0
    cut: Boundary | None = None


def lay_floor(
    row: ChunkRow, cost: int, room: int, options: PackOptions, surcharge: int = 0
) -> Floored:
    """Place rank 1, which costs `cost` tokens whole, in `room`.

    `always` places it whole whatever the room; `fit` whole where it fits, else cut at the deepest
    boundary that fits (unless cutting is off), else it is missed; `off` leaves it to the fill.
    """
    if options.floor == "off":
        return Floored("open")
    if options.floor == "always" or cost <= room:
        return Floored("packed", cost)
    cut = None
    if options.truncate != "never":
        cut = deepest(
            row,
            room,
            cut_at=options.cut_at,
            cut_any_kind=options.cut_any_kind,
            surcharge=surcharge,
        )
    if cut is None:
        return Floored("missed")
    return Floored("truncated", cut.block_tokens, cut)
