"""Checks on which version holds when (laws 6 and 7): SQL over versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.tables import documents, versions

_BEGINNING = -(1 << 63)
_END = (1 << 63) - 1


def stored_versions(collection_id: int, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """Documents joined to their versions that still hold their chunks."""
    return (
        sa.select(documents.c.document, *columns)
        .select_from(documents.join(versions, versions.c.document_id == documents.c.id))
        .where(documents.c.collection_id == collection_id, versions.c.pruned_at.is_(None))
    )


def rows(connection: sa.Connection, query: sa.Select[*tuple[Any, ...]]) -> Iterator[sa.Row[Any]]:
    """Rows of a query, read as they come."""
    with connection.execute(query, execution_options={"yield_per": 1000}) as found:
        yield from found


def active_versions(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """More than one active version of a document, or none where one should be."""
    active = sa.func.sum(sa.case((versions.c.status == "active", 1), else_=0))
    query = (
        stored_versions(collection_id, active.label("active"))
        .group_by(documents.c.id, documents.c.document)
        .having(active > 1)
        .order_by(documents.c.document)
    )
    for row in rows(connection, query):
        text = f"{row.active} versions are active; one at most may be"
        yield finding("active_versions", "error", text, row.document)
    for row in rows(connection, _without_active(collection_id)):
        text = f"version {row.version} is {row.status}, but nothing replaced it"
        yield finding("active_versions", "error", text, row.document, row.version)


def _without_active(collection_id: int) -> sa.Select[*tuple[Any, ...]]:
    there = versions.alias("there")
    has_active = sa.exists().where(
        there.c.document_id == documents.c.id, there.c.status == "active"
    )
    return (
        stored_versions(collection_id, versions.c.version, versions.c.status)
        .where(
            versions.c.version == documents.c.current_version,
            versions.c.status == "superseded",
            sa.or_(versions.c.closed_by.is_(None), versions.c.closed_by.not_like("document:%")),
            ~has_active,
        )
        .order_by(documents.c.document)
    )


def effective_ranges(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Ranges that are reversed, or overlap another version's."""
    reverse = versions.c.effective_to < versions.c.effective_from
    query = stored_versions(
        collection_id, versions.c.version, versions.c.effective_from, versions.c.effective_to
    )
    for row in rows(connection, query.where(reverse).order_by(documents.c.document)):
        text = f"ends {iso(row.effective_to)}, before it starts {iso(row.effective_from)}"
        yield finding("effective_ranges", "error", text, row.document, row.version)
    for row in rows(connection, _overlaps(collection_id)):
        text = f"in force until {iso(row.end) or 'further notice'}, but version "
        text += f"{row.following} is in force from {iso(row.next_start) or 'the beginning'}"
        yield finding("effective_ranges", "error", text, row.document, row.version)


def _overlaps(collection_id: int) -> sa.Select[*tuple[Any, ...]]:
    start = sa.func.coalesce(versions.c.effective_from, _BEGINNING)
    end = sa.func.coalesce(versions.c.effective_to, _END)

    def following(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        document = versions.c.document_id
        return sa.over(sa.func.lead(column), partition_by=document, order_by=(start, end))

    ever_in_force = sa.or_(versions.c.status != "draft", versions.c.effective_to.is_not(None))
    inner = (
        stored_versions(
            collection_id,
            versions.c.version,
            versions.c.effective_to.label("end"),
            end.label("closes"),
            following(versions.c.version).label("following"),
            following(versions.c.effective_from).label("next_start"),
            following(start).label("opens"),
        )
        .where(ever_in_force, start < end)
        .subquery()
    )
    return (
        sa.select(inner)
        .where(inner.c.opens < inner.c.closes)
        .order_by(inner.c.document, inner.c.version)
    )


def expired(connection: sa.Connection, collection_id: int, now: Moment) -> Iterator[Finding]:
    """Active versions whose time is over, with none after them."""
    query = _active(collection_id, versions.c.effective_to).where(versions.c.effective_to <= now)
    for row in rows(connection, query):
        text = f"active, but its time ended {iso(row.effective_to)}"
        yield finding("expired", "warning", text, row.document, row.version)


def not_yet_valid(connection: sa.Connection, collection_id: int, now: Moment) -> Iterator[Finding]:
    """Active versions whose time is still to come."""
    query = _active(collection_id, versions.c.effective_from)
    for row in rows(connection, query.where(versions.c.effective_from > now)):
        text = f"comes into force {iso(row.effective_from)}"
        yield finding("not_yet_valid", "info", text, row.document, row.version)


def review_due(connection: sa.Connection, collection_id: int, now: Moment) -> Iterator[Finding]:
    """Active versions past their review_by."""
    query = _active(collection_id, versions.c.review_by).where(versions.c.review_by <= now)
    for row in rows(connection, query):
        text = f"review was due {iso(row.review_by)}"
        yield finding("review_due", "warning", text, row.document, row.version)


def _active(collection_id: int, *columns: sa.ColumnElement[Any]) -> sa.Select[*tuple[Any, ...]]:
    query = stored_versions(collection_id, versions.c.version, *columns)
    current = versions.c.version == documents.c.current_version
    return query.where(versions.c.status == "active", current).order_by(documents.c.document)
