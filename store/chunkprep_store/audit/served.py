"""Check of the log of packs: whether anything was served that was not in force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import iso
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import (
    documents,
    metadata_history,
    pack_chunks,
    packs,
    versions,
)

CONCURRENT = 5_000_000
"""Microseconds around a change within which a pack counts as concurrent with it."""

_DECIDED = sa.case(
    (versions.c.status == "superseded", versions.c.superseded_at),
    (versions.c.status == "withdrawn", versions.c.withdrawn_at),
    (versions.c.status == "draft", versions.c.closes_at),
)
"""When it was decided that the version is in force no more; null where it is active."""

_SINCE = {
    "active": "its dates were changed",
    "draft": "it became a draft again",
    "withdrawn": "withdrawn",
}


def served_stale(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Packs that used a chunk not in force at their `as_of`, as was decided by then (error), and
    versions that packs used and that were replaced, taken back or given other dates later (info).
    """
    query = (
        _used(collection_id, packs.c.request_id, packs.c.as_of, pack_chunks.c.chunk_id)
        .where(~_in_force_then(), _known_out(packs.c.at - CONCURRENT))
        .order_by(packs.c.at, packs.c.id, pack_chunks.c.position)
    )
    for row in rows(connection, query):
        text = f"pack {row.request_id} used it, though it was not in force {iso(row.as_of)}"
        yield finding("served_stale", "error", text, row.document, row.version, row.chunk_id)
    count = sa.func.count(packs.c.id.distinct()).label("many")
    later = (
        _used(collection_id, versions.c.status, count, sa.func.max(packs.c.at).label("last"))
        .where(
            sa.or_(
                sa.and_(_in_force_then(), packs.c.at <= _DECIDED),
                sa.and_(~_in_force_then(), ~_known_out(packs.c.at)),
            ),
            sa.or_(versions.c.status == "active", ~_text_holds()),
        )
        .group_by(documents.c.document, versions.c.version, versions.c.status)
        .order_by(documents.c.document, versions.c.version)
    )
    for row in rows(connection, later):
        what = _SINCE.get(row.status, "replaced")
        used = "1 pack" if row.many == 1 else f"{row.many:,} packs"
        text = f"{what} since {used} used it, the last {iso(row.last)}"
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


def _known_out(by: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """That the version, not in force at the pack's `as_of`, is not was decided before a moment:
    its range has not changed since, or else something that keeps it out stands since then, as its
    own dates, its end by hand, or the version that replaced it.
    """
    as_of, v = packs.c.as_of, versions.c
    closed = sa.case((v.status == "withdrawn", v.withdrawn_at), else_=v.closes_at)
    dated = sa.and_(v.stored_at < by, sa.or_(v.released_at.is_(None), v.released_at < by))
    causes = (
        v.changed_at < by,
        sa.and_(v.valid_to <= as_of, dated, ~_set_after(by, "valid_to")),
        sa.and_(v.effective_from > as_of, dated, ~_set_after(by, "valid_from"), ~_joined(by)),
        sa.and_(
            v.closed_by.in_(("hand", "sync", "metadata", "draft")),
            v.closes_at <= as_of,
            closed < by,
        ),
        sa.and_(v.status == "superseded", v.superseded_at < by, _replaced(by)),
    )
    return sa.case((sa.or_(*causes), 1), else_=0) == 1


def _set_after(by: sa.ColumnElement[Any], field: str) -> sa.Exists:
    """A date of the version was set after a moment."""
    return sa.exists().where(
        metadata_history.c.version_id == versions.c.id,
        metadata_history.c.field == field,
        metadata_history.c.at >= by,
    )


def _joined(by: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """Another version arrived after a moment, which may be why one without a date starts late."""
    other = versions.alias("other")
    return sa.and_(
        versions.c.valid_from.is_(None),
        sa.exists().where(
            other.c.document_id == versions.c.document_id,
            other.c.id != versions.c.id,
            other.c.stored_at >= by,
        ),
    )


def _replaced(by: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """Another version that follows was in force by the pack's `as_of`, and its date was not set
    after a moment: a range that moves later, for an older edition say, does not matter then.
    """
    other = versions.alias("other")
    end = other.c.effective_to
    set_later = sa.exists().where(
        metadata_history.c.version_id == other.c.id,
        metadata_history.c.field == "valid_from",
        metadata_history.c.at >= by,
    )
    return sa.exists().where(
        other.c.document_id == versions.c.document_id,
        other.c.effective_from >= versions.c.effective_to,
        other.c.effective_from <= packs.c.as_of,
        sa.or_(end.is_(None), end > other.c.effective_from),
        other.c.stored_at < by,
        other.c.released_at < by,
        ~set_later,
    )
