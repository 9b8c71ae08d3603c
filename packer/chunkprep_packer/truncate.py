"""Cutting, the last resort: only at a recorded boundary, at its recorded price."""

from __future__ import annotations

from functools import cache

import orjson

from chunkprep_ingest.model import BOUNDARY_KINDS, Boundary, BoundaryKind, ChunkRow


@cache
def allowed_kinds(weakest: BoundaryKind) -> frozenset[str]:
    """The kinds that a cut may use: `weakest` and every stronger one."""
    return frozenset(BOUNDARY_KINDS[: BOUNDARY_KINDS.index(weakest) + 1])


def deepest(
    row: ChunkRow, room: int, *, cut_at: BoundaryKind, cut_any_kind: bool, surcharge: int = 0
) -> Boundary | None:
    """The deepest recorded boundary whose block fits `room` tokens, or None.

    `surcharge` (an ordinal's tokens) comes on top of every price and is in the answer's.
    """
    if not (row.truncatable or cut_any_kind):
        return None
    kinds = allowed_kinds(cut_at)
    best: Boundary | None = None
    for offset, kind, tokens in orjson.loads(row.boundaries):
        price = tokens + surcharge
        if price <= room and kind in kinds and (best is None or offset > best.offset):
            best = Boundary(offset, kind, price)
    return best
