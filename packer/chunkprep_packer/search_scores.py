"""Scores of a search on a scale of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chunkprep_store import SearchHit

_DIGITS = 4


def scaled(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """The hits with scores as shares of the best one's, 0 to 1.

    Full-text scores have no scale: on a small collection the best may be a millionth.
    """
    best = max((hit.score for hit in hits), default=0.0)
    return [hit._replace(score=_share(hit.score, best)) for hit in hits]


def _share(score: float, best: float) -> float:
    return float(f"{max(score, 0.0) / best:.{_DIGITS}g}") if best > 0 else 0.0
