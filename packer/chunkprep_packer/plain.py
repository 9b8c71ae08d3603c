"""Packing plain values, for those who have no store of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.facts import Facts
from chunkprep_packer.ranking import ranked_cosines
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult
from chunkprep_packer.summary import blocks, decisions, figures, warnings
from chunkprep_packer.unstored import UNSTORED


@dataclass(frozen=True, slots=True)
class PlainChunk:
    """A chunk with an id, a score and either a cost in tokens or a text to count.

    `boundaries` are places where it may be cut, at the price of the whole block cut there.
    """

    id: str
    score: float
    cost: int | None = None
    text: str | None = None
    document: str | None = None
    vector: Sequence[float] | None = None
    boundaries: Sequence[Boundary | tuple[int, str, int]] = ()


Plain = PlainChunk | Mapping[str, Any] | tuple[str, float, int | str]
"""A PlainChunk, a mapping with its fields, or (id, score, cost or text)."""


def pack(
    chunks: Iterable[Plain],
    budget: int,
    *,
    count: Callable[[str], int] | None = None,
    delimiter_cost: int = 0,
    pins: Iterable[Plain] = (),
    **options: Any,
) -> PackResult:
    """Pack chunks into `budget` tokens, by the rules of `PackRequest`.

    `count` prices chunks that come with a text and no cost; `delimiter_cost` tokens are added to
    every chunk and boundary; `pins` go in first. Further options are those of PackRequest:
    min_score, strategy, floor, truncate, cut_at, dedupe ("exact" compares texts), mmr,
    mmr_max_similarity, query_vector and order. The result's `text` is empty: `blocks` name the
    chunks in order. Raises RequestError naming the field.
    """
    taken = [_plain(chunk, f"chunks[{at}]") for at, chunk in enumerate(chunks)]
    pinned = [_plain(pin, f"pins[{at}]") for at, pin in enumerate(pins)]
    request = PackRequest(budget=budget, candidates=_candidates(taken), **options)
    unusable = _NEEDS_STORE.intersection(options)
    if unusable:
        name = min(unusable)
        raise RequestError(f"{name}: needs a store; use Packer, or leave it out", name)
    best_last = sorted(enumerate(taken), key=lambda one: one[1].score)
    rows = {chunk.id: _row(at, chunk, count, delimiter_cost) for at, chunk in best_last}
    pin_rows = [_row(at, pin, count, delimiter_cost) for at, pin in enumerate(pinned)]
    facts = Facts(rows, _in_force, pins=pin_rows, cosines=ranked_cosines(request))
    return _result(decide(request, request.candidates, facts))


_NEEDS_STORE = frozenset(
    {"collection", "encoding", "pin", "pin_text", "as_of", "source", "tag", "access"}
    | {"min_authority", "effective_after", "on_superseded", "ordinals", "partial_note"}
)


def _in_force(row: ChunkRow) -> str | None:  # noqa: ARG001 - a Judge
    return None


def _candidates(chunks: Iterable[PlainChunk]) -> tuple[Candidate, ...]:
    return tuple(Candidate(chunk.id, chunk.score, chunk.vector) for chunk in chunks)


def _plain(chunk: Plain, field: str) -> PlainChunk:
    try:
        if isinstance(chunk, PlainChunk):
            return chunk
        if isinstance(chunk, Mapping):
            return PlainChunk(**chunk)
        name, score, size = chunk
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"{field}: {error}; give (id, score, cost or text) or the fields of PlainChunk", field
        ) from error
    if isinstance(size, str):
        return PlainChunk(name, score, text=size)
    return PlainChunk(name, score, size)


def _cost(chunk: PlainChunk, count: Callable[[str], int] | None) -> int:
    cost = chunk.cost
    if cost is None and chunk.text is not None and count is not None:
        cost = count(chunk.text)
    if cost is None:
        raise RequestError(f"chunk {chunk.id!r}: has neither a cost nor a text to count", "cost")
    if isinstance(cost, bool) or not isinstance(cost, int) or cost < 0:
        raise RequestError(
            f"chunk {chunk.id!r}: cost must be a whole number of tokens from 0, not {cost!r}",
            "cost",
        )
    return cost


def _row(
    at: int, chunk: PlainChunk, count: Callable[[str], int] | None, delimiter_cost: int
) -> ChunkRow:
    text = chunk.text or ""
    boundaries = [
        [offset, kind, tokens + delimiter_cost] for offset, kind, tokens in chunk.boundaries
    ]
    return UNSTORED._replace(
        chunk_id=chunk.id,
        document=chunk.id if chunk.document is None else chunk.document,
        version=1,
        ordinal=at,
        text=text,
        block_tokens=_cost(chunk, count) + delimiter_cost,
        delimiter_tokens=delimiter_cost,
        boundaries=orjson.dumps(boundaries).decode(),
        truncatable=bool(boundaries),
        content_hash=text_hash(text) if text else "",
    )


def _result(plan: Plan) -> PackResult:
    return PackResult(
        request_id="",
        collection=plan.options.collection,
        encoding="",
        slot=plan.options.budget,
        used_tokens=plan.used_tokens,
        pinned_tokens=plan.pinned_tokens,
        text="",
        blocks=blocks(plan),
        decisions=decisions(plan),
        log=figures(plan),
        warnings=warnings(plan),
    )
