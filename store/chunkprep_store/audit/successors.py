"""Check on chunk successors: each points to a chunk of another version, and none is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.replacement import settle
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.audit.stopped import reading
from chunkprep_store.history import VersionRow
from chunkprep_store.tables import chunks, documents, links, versions

_BATCH = 200


def successors(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """superseded_by that dangles, stays within its version, or is missing though the version
    that follows holds the same content. For information: `supersedes` that names no document.
    """
    yield from _astray(connection, collection_id)
    yield from _to_nothing(connection, collection_id)
    pairs: list[tuple[int, int]] = []
    for pair in _followed(connection, collection_id):
        pairs.append(pair)
        if len(pairs) == _BATCH:
            yield from _forgotten(connection, pairs)
            pairs.clear()
    if pairs:
        yield from _forgotten(connection, pairs)


def _astray(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    target = chunks.alias("target")
    query = (
        sa.select(
            chunks.c.document,
            chunks.c.version,
            chunks.c.chunk_id,
            chunks.c.superseded_by,
            target.c.chunk_id.label("found"),
        )
        .select_from(
            chunks.outerjoin(
                target,
                sa.and_(
                    target.c.chunk_id == chunks.c.superseded_by,
                    target.c.collection_id == chunks.c.collection_id,
                ),
            )
        )
        .where(
            chunks.c.collection_id == collection_id,
            chunks.c.superseded_by.is_not(None),
            sa.or_(target.c.chunk_id.is_(None), target.c.version_id == chunks.c.version_id),
        )
    )
    for row in rows(connection, query):
        what = "is in the same version" if row.found else "does not exist"
        text = f"superseded_by {row.superseded_by} {what}"
        yield finding("successors", "error", text, row.document, row.version, row.chunk_id)


def _to_nothing(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    old, new = documents.alias("old"), documents.alias("new")
    query = (
        sa.select(new.c.document, new.c.current_version, old.c.document.label("named"))
        .select_from(links)
        .join(old, old.c.id == links.c.old_id)
        .join(new, new.c.id == links.c.new_id)
        .where(old.c.collection_id == collection_id, old.c.last_version == 0)
        .order_by(new.c.document, old.c.document)
    )
    for row in rows(connection, query):
        text = f"supersedes {row.named}, which is not in this collection"
        yield finding("successors", "info", text, row.document, row.current_version)


def _followed(connection: sa.Connection, collection_id: int) -> Iterator[tuple[int, int]]:
    """(version, version that replaced it) by row number, of documents with several versions."""
    several = (
        sa.select(versions.c.document_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(documents.c.collection_id == collection_id)
        .group_by(versions.c.document_id)
        .having(sa.func.count() > 1)
    )
    query: sa.Select[Any] = (
        sa.select(*(versions.c[name] for name in VersionRow._fields), documents.c.document)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(versions.c.document_id.in_(several))
        .order_by(versions.c.document_id, versions.c.version)
    )
    for _, group in groupby(rows(connection, query), key=attrgetter("document_id")):
        found = list(group)
        history = [VersionRow._make(row[:-1]) for row in found]
        ids = {row.version: row.id for row in history if row.pruned_at is None}
        with reading(f"the versions of {found[0].document}"):
            settled = settle(row.facts for row in history)
        for number, standing in settled.of.items():
            if number in ids and standing.successor in ids:
                yield ids[number], ids[standing.successor]


def _forgotten(connection: sa.Connection, pairs: list[tuple[int, int]]) -> Iterator[Finding]:
    pair = (
        sa.values(sa.column("old", sa.BigInteger), sa.column("new", sa.BigInteger), name="pair")
        .data(pairs)
        .cte("pair")
    )
    follower = chunks.alias("follower")
    query = (
        sa.select(chunks.c.document, chunks.c.version, chunks.c.chunk_id)
        .distinct()
        .select_from(pair)
        .join(chunks, chunks.c.version_id == pair.c.old)
        .join(
            follower,
            sa.and_(
                follower.c.version_id == pair.c.new,
                follower.c.content_hash == chunks.c.content_hash,
            ),
        )
        .where(chunks.c.superseded_by.is_(None))
        .order_by(chunks.c.document, chunks.c.version, chunks.c.chunk_id)
    )
    for row in connection.execute(query).all():
        text = "has no successor, though the version that follows holds the same content"
        yield finding("successors", "error", text, row.document, row.version, row.chunk_id)
