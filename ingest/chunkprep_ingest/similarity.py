"""Near-duplicate signatures: 32 MinHash lanes of a text's words, by the rensa library.

The share of equal lanes of two signatures estimates the Jaccard similarity of their word sets
(Broder 1997). The packer compares signatures; it never hashes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

LANES = 32
"""Lanes of a signature, four bytes each: 128 bytes."""

LEAST_WORDS = 20
"""Texts with fewer words get no signature: two short texts are alike too easily."""

_SEED = 42
_PACK = struct.Struct(f"<{LANES}I")


def signatures(texts: Sequence[str]) -> list[bytes]:
    """The signature of each text, empty for texts below LEAST_WORDS words."""
    from rensa import RMinHash  # the `ingest` extra; packing does without

    made = []
    for text in texts:
        words = text.casefold().split()
        if len(words) < LEAST_WORDS:
            made.append(b"")
            continue
        lanes = RMinHash(LANES, _SEED)  # its bulk calls wake a pool of threads for each document
        lanes.update(words)
        made.append(_PACK.pack(*lanes.digest()))
    return made


def similarity(a: bytes, b: bytes) -> float:
    """The estimated Jaccard similarity (0 to 1) of two signatures; 0 where one is empty."""
    if not a or not b:
        return 0.0
    lanes: tuple[int, ...] = _PACK.unpack(a)
    others: tuple[int, ...] = _PACK.unpack(b)
    same = sum(x == y for x, y in zip(lanes, others, strict=True))
    return same / LANES
