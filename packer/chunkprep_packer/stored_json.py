"""What the store holds, as JSON objects: for the command line and HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import ChunkRow

if TYPE_CHECKING:
    from chunkprep_store import Change, HistoryEntry, Impact, VersionInfo

_OF_A_DOCUMENT = (
    "document", "title", "version", "status", "effective_from", "effective_to", "valid_from",
    "valid_to", "review_by", "edition", "authority", "access", "tags", "source", "chunks", "tokens",
    "coverage", "ingested_at",
)  # fmt: skip
_OF_A_VERSION = (*_OF_A_DOCUMENT, "superseded_at", "withdrawn_at", "reason", "warnings", "missing")
_MOMENTS = frozenset(
    {
        "effective_from", "effective_to", "valid_from", "valid_to", "review_by", "ingested_at",
        "superseded_at", "withdrawn_at", "at", "as_of", "first_at", "last_at", "stored_at",
        "started_at", "finished_at",
    }
)  # fmt: skip


def document_record(info: VersionInfo) -> dict[str, Any]:
    """One line of `docs --json`."""
    return {name: _plain(name, getattr(info, name)) for name in _OF_A_DOCUMENT}


def version_record(info: VersionInfo) -> dict[str, Any]:
    """One line of `versions --json`: with the history of its metadata and status."""
    fields = {name: _plain(name, getattr(info, name)) for name in _OF_A_VERSION}
    return {**fields, "history": [_history_record(entry) for entry in info.history]}


def _history_record(entry: HistoryEntry) -> dict[str, Any]:
    """A change of one field; the store keeps moments among its values as digits."""
    fields = with_iso(asdict(entry))
    if entry.field in _MOMENTS:
        for name in ("old", "new"):
            value = orjson.loads(fields[name] or "null")
            fields[name] = iso(value)
    return fields


def chunk_record(row: ChunkRow, encoding: str) -> dict[str, Any]:
    """One line of `chunks --json`."""
    boundaries = [
        {"offset": offset, "kind": kind, "block_tokens": tokens}
        for offset, kind, tokens in orjson.loads(row.boundaries)
    ]
    return {
        "chunk_id": row.chunk_id,
        "document": row.document,
        "version": row.version,
        "ordinal": row.ordinal,
        "status": row.status,
        "superseded_by": row.superseded_by,
        "effective_from": iso(row.effective_from),
        "effective_to": iso(row.effective_to),
        "heading_path": orjson.loads(row.heading_path),
        "kind": row.kind,
        "truncatable": bool(row.truncatable),
        "page": row.page,
        "header": row.header,
        "text": row.text,
        "block_tokens": row.block_tokens,
        "text_tokens": row.block_tokens - row.header_tokens - row.delimiter_tokens,
        "header_tokens": row.header_tokens,
        "delimiter_tokens": row.delimiter_tokens,
        "boundaries": boundaries,
        "encoding": encoding,
        "content_hash": row.content_hash,
    }


def change_record(change: Change) -> dict[str, Any]:
    """One line of `changes`; lists that the store keeps as JSON are parsed."""
    fields = with_iso(asdict(change))
    for name in ("heading_path", "access", "tags", "metadata"):
        if fields[name] is not None:
            fields[name] = orjson.loads(fields[name])
    if fields["metadata"] is not None:
        fields["metadata"] = with_iso(fields["metadata"])
    return fields


def impact_record(impact: Impact) -> dict[str, Any]:
    """One line of `impact --json`."""
    return with_iso(impact._asdict())


def with_iso(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields, moments as ISO 8601."""
    return {name: _plain(name, value) for name, value in fields.items()}


def _plain(name: str, value: Any) -> Any:
    return iso(value) if name in _MOMENTS else value
