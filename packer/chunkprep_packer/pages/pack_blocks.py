"""The blocks of a pack as its page lists them: which version of which document each is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import ChunkRow

_RANGE = ("effective_from", "effective_to")


def document_facts_of(row: ChunkRow) -> dict[str, Any]:
    """Where a stored chunk is from, and when its version is in force as the store has it now."""
    return {
        "document": row.document,
        "version": row.version,
        "ordinal": row.ordinal,
        "heading_path": orjson.loads(row.heading_path),
        "access": orjson.loads(row.access),
        "status": row.status,
        "effective_from": iso(row.effective_from),
        "effective_to": iso(row.effective_to),
    }


def block_list(
    blocks: Iterable[Mapping[str, Any]], documents: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Each block in final order; `documents` are the facts of the chunks that are still stored, the
    others have only what their pack says of them (nothing where their document was erased).
    """
    return [_block(block, documents.get(block["chunk_id"])) for block in blocks]


def _block(block: Mapping[str, Any], found: Mapping[str, Any] | None) -> dict[str, Any]:
    kept = {name: block[name] for name in ("chunk_id", "document", "version", "rank", "tokens")}
    known = {} if found is None else {name: found[name] for name in ("document", "version")}
    return {
        **kept,
        **known,
        "truncated": block["truncated"] is not None,
        "stored": found is not None,
        "status": None if found is None else found["status"],
        **{name: None if found is None else found[name] for name in _RANGE},
    }
