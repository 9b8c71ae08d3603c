"""Sizes of blocks against their cap, from counts of each size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chunkprep_store import SizeCount

STEPS = 10
"""Steps of the histogram, each a tenth of the cap; one more for blocks over it."""


@dataclass(frozen=True, slots=True)
class BlockSizes:
    """Sizes in tokens. `cap` is the collection's (None: not known).

    `histogram[k]` counts blocks of more than k and at most k + 1 tenths of their own policy's cap
    (the collection's where that is not known), the last those over it; it is empty where no cap
    is known.
    """

    chunks: int
    tokens: int
    cap: int | None
    mean: float
    smallest: int
    tenth: int
    median: int
    ninetieth: int
    largest: int
    histogram: tuple[int, ...]


def block_sizes(counts: Iterable[SizeCount], cap: int | None) -> BlockSizes:
    """The figures of counted sizes."""
    found = sorted(counts, key=lambda count: count.block_tokens)
    chunks = sum(count.chunks for count in found)
    tokens = sum(count.chunks * count.block_tokens for count in found)
    return BlockSizes(
        chunks=chunks,
        tokens=tokens,
        cap=cap,
        mean=round(tokens / max(chunks, 1), 1),
        smallest=found[0].block_tokens if found else 0,
        tenth=quantile(found, 0.1),
        median=quantile(found, 0.5),
        ninetieth=quantile(found, 0.9),
        largest=found[-1].block_tokens if found else 0,
        histogram=_histogram(found, cap),
    )


def quantile(counts: list[SizeCount], share: float) -> int:
    """The smallest size that at least this share (0 to 1) of the blocks does not exceed."""
    wanted = share * sum(count.chunks for count in counts)
    seen = 0
    for count in counts:
        seen += count.chunks
        if seen >= wanted:
            return count.block_tokens
    return 0


def _histogram(counts: list[SizeCount], primary: int | None) -> tuple[int, ...]:
    steps = [0] * (STEPS + 1)
    for count in counts:
        cap = count.cap or primary
        if cap is None:
            return ()
        over = count.block_tokens > cap
        steps[STEPS if over else max(0, -(-count.block_tokens * STEPS // cap) - 1)] += count.chunks
    return tuple(steps)
