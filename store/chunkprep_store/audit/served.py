"""Check of the log of packs: whether anything was served that was not in force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import iso
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import documents, metadata_history, pack_chunks, packs, versions

CONCURRENT = 5_000_000
"""Microseconds around a change within which a pack counts as concurrent with it."""

_DECIDED = sa.case(
    (versions.c.status == "superseded", versions.c.superseded_at),
    (versions.c.status == "withdrawn", versions.c.withdrawn_at),
    else_=versions.c.changed_at,
)
"""When it was decided that the version ends as it does."""


def served_stale(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Packs that used a chunk not in force at their `as_of` (error), and versions that packs used
    and that were replaced later (info).
    """
    query = (
        _used(collection_id, packs.c.request_id, packs.c.as_of, pack_chunks.c.chunk_id)
        .where(~_in_force_then(), sa.or_(packs.c.at > _DECIDED + CONCURRENT, _dates_were_known()))
        .order_by(packs.c.at, packs.c.id, pack_chunks.c.position)
    )
    for row in rows(connection, query):
        text = f"pack {row.request_id} used it, though it was not in force {iso(row.as_of)}"
        yield finding("served_stale", "error", text, row.document, row.version, row.chunk_id)
    count = sa.func.count(packs.c.id.distinct()).label("many")
    later = (
        _used(collection_id, count, sa.func.max(packs.c.at).label("last"))
        .where(
            _in_force_then(),
            versions.c.status.in_(("superseded", "withdrawn")),
            packs.c.at <= _DECIDED,
            ~_text_holds(),
        )
        .group_by(documents.c.document, versions.c.version)
        .order_by(documents.c.document, versions.c.version)
    )
    for row in rows(connection, later):
        used = "1 pack" if row.many == 1 else f"{row.many:,} packs"
        text = f"replaced since {used} used it, the last {iso(row.last)}"
        yield finding("served_stale", "info", text, row.document, row.version)


def _used(collection_id: int, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(documents.c.document, versions.c.version, *columns)
        .select_from(packs)
        .join(pack_chunks, pack_chunks.c.pack_id == packs.c.id)
        .join(versions, versions.c.id == pack_chunks.c.version_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(packs.c.collection_id == collection_id)
    )


def _in_force_then() -> sa.ColumnElement[bool]:
    """in_force at the pack's own `as_of`."""
    return sa.and_(
        sa.or_(versions.c.status != "draft", versions.c.effective_to.is_not(None)),
        sa.or_(versions.c.effective_from.is_(None), versions.c.effective_from <= packs.c.as_of),
        sa.or_(versions.c.effective_to.is_(None), versions.c.effective_to > packs.c.as_of),
    )


def _text_holds() -> sa.ColumnElement[bool]:
    """The active version has the same text: it was only cut again."""
    active = versions.alias("active")
    return sa.exists().where(
        active.c.document_id == versions.c.document_id,
        active.c.content_hash == versions.c.content_hash,
        active.c.status == "active",
    )


def _dates_were_known() -> sa.ColumnElement[bool]:
    """The version's own dates excluded `as_of`, and were not set after the pack."""
    moved = sa.exists().where(
        metadata_history.c.version_id == versions.c.id,
        metadata_history.c.field.in_(("valid_from", "valid_to")),
        metadata_history.c.at > packs.c.at - CONCURRENT,
    )
    return sa.and_(
        versions.c.valid_to <= packs.c.as_of,
        versions.c.stored_at < packs.c.at - CONCURRENT,
        ~moved,
    )
