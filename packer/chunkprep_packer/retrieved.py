"""What a framework's retriever found, as a request, and the packed blocks' texts back from it.

The adapters for LangChain and LlamaIndex are thin shells around these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chunkprep_ingest.errors import ChunkprepError, RequestError
from chunkprep_packer.request import Candidate, PackOptions, PackRequest
from chunkprep_packer.result import Block, Decision, PackResult

Without = Literal["raise", "drop"]
"""What is done with an item that carries no chunk id."""

Options = PackOptions | Callable[[str], PackOptions]
"""How to pack: always the same way, or as a function of the question says (its slot, its user)."""


class Packs(Protocol):
    """Whatever packs a request: a `Packer`, or a `Client` of the HTTP service."""

    def pack(self, request: PackRequest) -> PackResult:
        """Pack and answer."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """One retrieved item. `key` names it to its framework (None: it has no name there)."""

    key: str | None
    metadata: Mapping[Any, Any]
    score: float | None
    vector: Sequence[float] | None = None


def options_for(options: Options, question: str) -> PackOptions:
    """The options of one request."""
    return options if isinstance(options, PackOptions) else options(question)


def chunk_id(item: Item, name: str) -> str | None:
    """The chunk id of an item: its metadata's field `name`, else its own id."""
    found = item.metadata.get(name)
    if found is None or found == "":
        return item.key or None
    return str(found)


def to_request(
    items: Sequence[Item],
    options: PackOptions,
    *,
    name: str,
    without: Without = "raise",
    query_vector: Sequence[float] | None = None,
) -> tuple[PackRequest, dict[str, int]]:
    """The request for these items, and at which position each chunk id stands (its first).

    Items without any score count by their position, first is best. Vectors go along for `mmr`
    only. Raises RequestError for an item without a chunk id (unless `without` is "drop"), for
    scores that some items lack, and for a minimum score where there are none.
    """
    named = [(at, chunk_id(item, name)) for at, item in enumerate(items)]
    bare = [at for at, found in named if found is None]
    if bare and without == "raise":
        raise RequestError(
            f"retrieved item {bare[0]} has neither metadata {name!r} nor an id: write the chunk "
            f"id there when indexing, name the field that holds it, or let such items be dropped",
            "candidates.chunk_id",
        )
    kept = [(at, found) for at, found in named if found is not None]
    scores = _scores([items[at] for at, _ in kept], options)
    diverse = options.mmr is not None
    candidates = [
        Candidate(found, score, items[at].vector if diverse else None)
        for (at, found), score in zip(kept, scores, strict=True)
    ]
    values = options.fields_of(options.model_fields_set)
    if diverse and query_vector is not None:
        values["query_vector"] = query_vector
    places: dict[str, int] = {}
    for at, found in kept:
        places.setdefault(found, at)
    return PackRequest(**{**values, "candidates": candidates}), places


def _scores(items: Sequence[Item], options: PackOptions) -> list[float]:
    scores = [item.score for item in items]
    given = [float(score) for score in scores if score is not None]
    if len(given) == len(scores):
        return given
    if given:
        raise RequestError(
            f"{len(scores) - len(given)} of {len(scores)} retrieved items have no score; give "
            f"every one its score, or none (their order then ranks them)",
            "candidates.score",
        )
    if options.min_score is not None:
        raise RequestError(
            "min_score: the retrieved items carry no scores to compare with it; have the "
            "retriever give scores, or leave min_score out",
            "min_score",
        )
    return [1 / place for place in range(1, len(scores) + 1)]


@dataclass(frozen=True, slots=True)
class Shown:
    """One block of a pack: its text as the model sees it, and the item it came from, if any."""

    block: Block
    text: str
    at: int | None
    decision: Decision | None

    def facts(self, result: PackResult) -> dict[str, Any]:
        """What was decided, as JSON values; tokens are of this block and of the whole context."""
        block, cut, decision = self.block, self.block.truncated, self.decision
        return {
            "chunk_id": block.chunk_id,
            "document": block.document,
            "version": block.version,
            "heading_path": list(block.heading_path),
            "page": block.page,
            "rank": block.rank,
            "score": block.score,
            "tokens": block.tokens,
            "outcome": "pinned" if decision is None else decision.outcome,
            "truncated": None
            if cut is None
            else {"offset": cut.offset, "kind": cut.kind, "omitted_chars": cut.omitted_chars},
            "forwarded_from": None if decision is None else decision.forwarded_from,
            "request_id": result.request_id,
            "used_tokens": result.used_tokens,
            "slot": result.slot,
        }


def shown(result: PackResult, places: Mapping[str, int]) -> list[Shown]:
    """The packed blocks in final order. Their texts, joined, are the context (and its closing
    line, where `partial_note` asked for one).
    """
    if any(block.chars < 1 for block in result.blocks):
        raise ChunkprepError(
            "the pack does not say how long its blocks are; upgrade the chunkprep that answers"
        )
    made = {d.chunk_id: d for d in result.decisions if d.outcome != "skipped"}
    start, found = 0, []
    for block in result.blocks:
        decision = None if block.chunk_id is None else made.get(block.chunk_id)
        source = None
        if block.chunk_id is not None:
            source = (decision and decision.forwarded_from) or block.chunk_id
        text = result.text[start : start + block.chars]
        found.append(Shown(block, text, None if source is None else places.get(source), decision))
        start += block.chars
    return found
