"""Best first: the order that every later step relies on."""

from __future__ import annotations

from collections.abc import Iterable

from chunkprep_packer.diversity import Cosines, measure
from chunkprep_packer.request import Candidate, PackRequest


def rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates by score, best first; ties by chunk id, so that the same input ranks the same."""
    return sorted(candidates, key=_key)


def _key(candidate: Candidate) -> tuple[float, str]:
    return -candidate.score, candidate.chunk_id


def ranked_cosines(request: PackRequest) -> Cosines | None:
    """The similarities of the ranked candidates, where diversity is asked for."""
    if request.mmr is None:
        return None
    ranked = rank(request.candidates)
    vectors = [() if each.vector is None else each.vector for each in ranked]
    return measure(vectors, request.query_vector)
