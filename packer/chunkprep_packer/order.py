"""Where packed blocks stand: decided after packing, without changing what is packed."""

from __future__ import annotations

from collections.abc import Sequence

from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_packer.eligibility import since
from chunkprep_packer.request import Order


def arrange(order: Order, ranked: Sequence[ChunkRow]) -> list[int]:
    """Positions of `ranked` (packed rows, best first) in the order in which they are shown."""
    positions = list(range(len(ranked)))
    match order:
        case "rank":
            return positions
        case "best_last":
            return positions[::-1]
        case "edges":
            return edges(positions)
        case "document":
            return by_document(ranked)
        case "chronological":
            return by_time(ranked)


def edges(positions: list[int]) -> list[int]:
    """Best at both ends, worst in the middle: rank 1 first, rank 2 last, rank 3 second.

    Rank 1 is first for every number of blocks (Liu et al. 2023, "Lost in the Middle").
    """
    return positions[::2] + positions[1::2][::-1]


def by_document(ranked: Sequence[ChunkRow]) -> list[int]:
    """Documents by their best-ranked block, each in reading order."""
    first: dict[str, int] = {}
    for at, row in enumerate(ranked):
        first.setdefault(row.document, at)
    return sorted(
        range(len(ranked)), key=lambda at: (first[ranked[at].document], ranked[at].ordinal)
    )


def by_time(ranked: Sequence[ChunkRow]) -> list[int]:
    """Oldest text first, one document's blocks in reading order."""

    def key(at: int) -> tuple[Moment, str, int]:
        row = ranked[at]
        return since(row), row.document, row.ordinal

    return sorted(range(len(ranked)), key=key)
