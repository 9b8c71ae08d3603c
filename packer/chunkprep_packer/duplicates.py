"""The same text twice: exactly, by content hash; nearly, by MinHash signature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from chunkprep_ingest.model import ChunkRow
from chunkprep_ingest.similarity import LANES, similarity

NEAR = 0.9
"""Estimated Jaccard similarity from which two texts are near duplicates."""

_BANDS = LANES - ceil(NEAR * LANES) + 1
"""Near duplicates differ in at most three lanes, so they share at least one of four bands whole."""

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
        """Whether a text of another document shares a band and is near indeed."""
        return any(
            other.document != row.document and similarity(other.signature, row.signature) >= NEAR
            for band in _bands(row.signature)
            for other in self._bands.get(band, ())
        )


def _bands(signature: bytes) -> list[tuple[int, bytes]]:
    return [(at, signature[at * _BAND : (at + 1) * _BAND]) for at in range(_BANDS)]


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
