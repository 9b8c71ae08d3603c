"""The same text twice: exactly, by content hash; nearly, by MinHash signature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import eq
from struct import Struct

from chunkprep_ingest.model import ChunkRow

LANES = 32
"""Minima (32-bit) in a signature of 128 bytes."""

_minima = Struct(f"{LANES}I").unpack

_DIFFERENT = 3
"""Lanes in which near duplicates may differ: 29 of 32 equal is an estimated Jaccard of .906, the
smallest share that reaches the bar of .9 (Broder 1997: the share of equal minima estimates it)."""

_BANDS = _DIFFERENT + 1
_BAND = 4 * LANES // _BANDS  # bytes


class Seen:
    """The texts met so far, best-ranked first."""

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._hashes: set[str] = set()
        self._bands: dict[tuple[int, bytes], list[ChunkRow]] = {}

    def add(self, row: ChunkRow) -> None:
        """Remember a chunk."""
        if row.content_hash:
            self._hashes.add(row.content_hash)
        if self._near and row.signature:
            for band in _bands(row.signature):
                self._bands.setdefault(band, []).append(row)

    def reason(self, row: ChunkRow) -> str | None:
        """`duplicate`, `near_duplicate`, or None for a text not met yet."""
        if row.content_hash in self._hashes:
            return "duplicate"
        if self._near and row.signature and self._has_near(row):
            return "near_duplicate"
        return None

    def _has_near(self, row: ChunkRow) -> bool:
        """Signatures that differ in at most three lanes share one of four bands whole."""
        return any(
            other.document != row.document and similar(other.signature, row.signature)
            for band in _bands(row.signature)
            for other in self._bands.get(band, ())
        )


def _bands(signature: bytes) -> list[tuple[int, bytes]]:
    return [(at, signature[at * _BAND : (at + 1) * _BAND]) for at in range(_BANDS)]


def similar(one: bytes, other: bytes) -> bool:
    """Whether two signatures estimate a Jaccard similarity of at least .9."""
    if len(one) != len(other) or len(one) != 4 * LANES:
        return False
    equal: int = sum(map(eq, _minima(one), _minima(other)))
    return equal >= LANES - _DIFFERENT


def drop_duplicates(
    rows: Sequence[ChunkRow], *, near: bool, pinned: Iterable[ChunkRow] = ()
) -> list[str | None]:
    """For each row, best-ranked first: why it repeats an earlier or pinned one, or None.

    Two chunks of one document are no near duplicates of each other.
    """
    seen = Seen(near=near)
    for row in pinned:
        seen.add(row)
    reasons: list[str | None] = []
    for row in rows:
        reason = seen.reason(row)
        if reason is None:
            seen.add(row)
        reasons.append(reason)
    return reasons
