"""Maximal marginal relevance: relevant, and unlike what was chosen before.

Carbonell and Goldstein, SIGIR 1998: choose next the candidate with the largest
lambda * relevance - (1 - lambda) * (largest similarity to a chosen one). numpy is imported only
when diversity is asked for.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkprep_ingest.errors import RequestError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_CLOSE = 1e-6  # cosines are kept in single precision: below this, two of them are the same


class Cosines(NamedTuple):
    """Cosines of n candidates, in ranked order: `pairs` [n, n], and to the query, `query` [n]."""

    pairs: Floats
    query: Floats | None


class Diverse(NamedTuple):
    """Positions as they were chosen, and those too similar to a chosen one, in ranked order."""

    chosen: list[int]
    dropped: list[int]


def measure(vectors: Sequence[Sequence[float]], query: Sequence[float] | None = None) -> Cosines:
    """Cosines of `vectors` (n of equal length), to each other and to `query`.

    A vector of zeros has cosine 0 to everything. Raises RequestError for a value that is not
    finite.
    """
    np = _numpy()
    shape = len(vectors), len(vectors[0]) if vectors else 0
    rows = _unit(np.asarray(vectors, dtype=np.float64).reshape(shape), "candidates.vector")
    to_query = None
    if query is not None and len(rows):
        direction = _unit(np.asarray([query], dtype=np.float64), "query_vector")[0]
        to_query = (rows @ direction).astype(np.float32)
    return Cosines((rows @ rows.T).astype(np.float32), to_query)


def diversify(
    survivors: Sequence[int],
    scores: Sequence[float],
    cosines: Cosines,
    *,
    balance: float,
    max_similarity: float,
    seeds: Sequence[int] = (),
) -> Diverse:
    """The survivors in the order of maximal marginal relevance.

    `survivors` and `seeds` (pinned candidates, seen already) are positions in ranked order,
    `scores` those of the survivors, `balance` is lambda. Ties go to the better-ranked.
    """
    np = _numpy()
    positions = list(survivors)
    pairs = cosines.pairs[np.ix_(positions, positions)].astype(np.float64)
    relevance = _relevance(positions, scores, cosines)
    nearest = np.full(len(positions), -np.inf)
    if seeds:
        nearest = cosines.pairs[np.ix_(positions, list(seeds))].astype(np.float64).max(axis=1)
    alive = nearest < max_similarity - _CLOSE
    chosen: list[int] = []
    while alive.any():
        seen = np.where(np.isinf(nearest), 0.0, nearest)
        worth = np.round(balance * relevance - (1 - balance) * seen, 6)
        best = int(np.argmax(np.where(alive, worth, -np.inf)))
        chosen.append(positions[best])
        np.maximum(nearest, pairs[best], out=nearest)
        alive &= nearest < max_similarity - _CLOSE
        alive[best] = False
    kept = set(chosen)
    return Diverse(chosen, [at for at in positions if at not in kept])


def to_text(cosines: Cosines) -> dict[str, str | None]:
    """The cosines as texts for a log: the upper triangle, and those to the query."""
    np = _numpy()
    upper = cosines.pairs[np.triu_indices(len(cosines.pairs))]
    query = None if cosines.query is None else b64encode(cosines.query.tobytes()).decode()
    return {"pairs": b64encode(upper.tobytes()).decode(), "query": query}


def from_text(texts: dict[str, str | None], count: int) -> Cosines:
    """The cosines of `count` candidates that `to_text` wrote."""
    np = _numpy()
    pairs = np.zeros((count, count), dtype=np.float32)
    upper = np.triu_indices(count)
    pairs[upper] = np.frombuffer(b64decode(texts["pairs"] or ""), dtype=np.float32)
    pairs.T[upper] = pairs[upper]
    query = texts["query"]
    return Cosines(
        pairs, None if query is None else np.frombuffer(b64decode(query), dtype=np.float32)
    )


def _relevance(positions: list[int], scores: Sequence[float], cosines: Cosines) -> Any:
    """Cosine to the query where given, else the scores scaled to 0..1 over the survivors."""
    np = _numpy()
    if cosines.query is not None:
        return cosines.query[positions].astype(np.float64)
    values = np.asarray(scores, dtype=np.float64)
    if not len(values):
        return values
    low, high = values.min(), values.max()
    half = (high / 2 - low / 2) or 1.0  # halves, so that the largest floats do not overflow
    return (values / 2 - low / 2) / half


def _unit(rows: Any, field: str) -> Any:
    """Rows scaled to length 1; rows of zeros stay."""
    np = _numpy()
    if not np.isfinite(rows).all():
        raise RequestError(f"{field}: holds a value that is not finite; embed it again", field)
    if not rows.size:
        return rows
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)


def _numpy() -> Any:
    try:
        import numpy as np
    except ImportError as error:
        raise RequestError(
            "mmr: needs numpy; pip install 'chunkprep[diversity]', or leave mmr out", "mmr"
        ) from error
    return np
