"""The same text twice: exactly, by content hash; nearly, by MinHash signature."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from chunkprep_ingest.model import ChunkRow
from chunkprep_ingest.similarity import LANES, similarity

NEAR = 0.9
"""Estimated Jaccard similarity from which two texts are near duplicates."""

_BANDS = LANES - ceil(NEAR * LANES) + 1
"""Near duplicates differ in at most three lanes, so they share at least one of four bands whole."""

_BAND = 4 * LANES // _BANDS  # bytes


class NearIndex:
    """Signatures met so far, by band."""

    def __init__(self) -> None:
        self._bands: dict[tuple[int, bytes], list[ChunkRow]] = {}

    def add(self, row: ChunkRow) -> None:
        """Remember a chunk, if it has a signature."""
        for band in _bands(row.signature):
            self._bands.setdefault(band, []).append(row)

    def holds(self, row: ChunkRow) -> bool:
        """Whether a near duplicate of `row`, from another document, was met."""
        return any(
            other.document != row.document and similarity(other.signature, row.signature) >= NEAR
            for band in _bands(row.signature)
            for other in self._bands.get(band, ())
        )


def _bands(signature: bytes) -> list[tuple[int, bytes]]:
    if not signature:
        return []
    return [(at, signature[at * _BAND : (at + 1) * _BAND]) for at in range(_BANDS)]


def drop_duplicates(
    rows: Sequence[ChunkRow], *, near: bool, pinned: Sequence[ChunkRow] = ()
) -> list[str | None]:
    """For each row, best-ranked first: why it repeats an earlier or pinned one, or None.

    Two chunks of one document are no near duplicates of each other. A row without a content hash
    (a plain value without a text) repeats nothing.
    """
    hashes = {row.content_hash for row in pinned if row.content_hash}
    index = NearIndex() if near else None
    if index is not None:
        for row in pinned:
            index.add(row)
    reasons: list[str | None] = []
    for row in rows:
        content_hash = row.content_hash
        reason = None
        if content_hash in hashes:
            reason = "duplicate"
        elif index is not None and index.holds(row):
            reason = "near_duplicate"
        else:
            if content_hash:
                hashes.add(content_hash)
            if index is not None:
                index.add(row)
        reasons.append(reason)
    return reasons
