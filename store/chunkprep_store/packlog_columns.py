"""What the columns of a logged pack say, against the JSON texts of the same row (formats 1 and 2).

The columns and the packed chunks are there to be searched by; `impact` and the audit go by them, a
replay by the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.lifecycle import iso, moment
from chunkprep_store.packlog import UNREADABLE, PackedChunk, PackRecord

LONGEST = 3_600 * 1_000_000
"""Microseconds between the moment that a pack was made for, where its request names none, and its
logging; far more than packing takes."""


def disagreement(record: PackRecord) -> str | None:
    """The first column that says otherwise than the row's JSON, or that this cannot be read."""
    if record.warnings == UNREADABLE:
        return UNREADABLE[0]
    try:
        request, result = orjson.loads(record.request_json), orjson.loads(record.result_json)
        return next(_disagreements(record, request, result), None)
    except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, ChunkprepError) as error:
        wrong = f"{error} is not there" if isinstance(error, KeyError) else error
        return f"its request or result cannot be read: {wrong}"


def _disagreements(
    record: PackRecord, request: Mapping[str, Any], result: Mapping[str, Any]
) -> Iterator[str]:
    figures: Mapping[str, Any] = result["log"]
    told = (
        ("slot", record.slot, request["budget"]),
        ("slot", record.slot, figures.get("slot")),
        ("used_tokens", record.used_tokens, figures.get("used_tokens")),
        ("encoding", record.encoding, request.get("encoding")),
    )
    for name, column, logged in told:
        if logged is not None and column != logged:
            yield f"the row says {name} {column}, its JSON {logged}"
    asked = request.get("as_of")
    if asked is not None and moment(asked) != record.as_of:
        yield f"the row says as_of {iso(record.as_of)}, its request {asked}"
    elif asked is None and abs(record.at - record.as_of) > LONGEST:
        yield f"the row says as_of {iso(record.as_of)}, but it was packed {iso(record.at)} for then"
    yield from _chunks(record.chunks, result["blocks"])
    if not isinstance(result["decisions"], list):
        yield "its result cannot be read: its decisions are no list"


def _chunks(packed: Sequence[PackedChunk], blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Against the blocks in order; a pinned text is no chunk, and an erased one tells no cut."""
    shown = [(at, block) for at, block in enumerate(blocks) if block["chunk_id"] is not None]
    if len(packed) != len(shown):
        yield f"the log has rows of {len(packed)} packed chunks, the pack's JSON {len(shown)}"
        return
    for chunk, (at, block) in zip(packed, shown, strict=True):
        if (chunk.chunk_id, chunk.position) != (block["chunk_id"], at):
            yield f"packed chunk {chunk.position} is {chunk.chunk_id}, in JSON {block['chunk_id']}"
        elif "truncated" in block and chunk.offset != (block["truncated"] or {}).get("offset"):
            yield f"packed chunk {at} was cut at {chunk.offset}, in JSON {block['truncated']}"
