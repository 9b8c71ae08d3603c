"""How large the blocks in force are."""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.audit.prices import policy_caps
from chunkprep_store.clauses import in_force_clause
from chunkprep_store.tables import chunks, documents, versions


class SizeCount(NamedTuple):
    """So many chunks whose blocks cost `block_tokens`; `cap` is None where it is not known."""

    cap: int | None
    block_tokens: int
    chunks: int


class LargeBlock(NamedTuple):
    """A chunk in force and what its block costs; `title` is its document's."""

    document: str
    title: str
    version: int
    ordinal: int
    chunk_id: str
    block_tokens: int


def size_counts(connection: sa.Connection, collection_id: int, at: Moment) -> list[SizeCount]:
    """The chunks in force counted by cap and size, the smallest first: a row for each size."""
    query = _in_force(
        collection_id, at, chunks.c.policy, chunks.c.block_tokens, sa.func.count().label("found")
    )
    query = query.group_by(chunks.c.policy, chunks.c.block_tokens)
    caps = policy_caps(connection)
    return [
        SizeCount(caps.get(row.policy), row.block_tokens, row.found)
        for row in connection.execute(query.order_by(chunks.c.block_tokens, chunks.c.policy))
    ]


def largest(
    connection: sa.Connection, collection_id: int, at: Moment, limit: int
) -> list[LargeBlock]:
    """The largest blocks in force, the largest first."""
    columns = (
        chunks.c.document,
        versions.c.title,
        chunks.c.version,
        chunks.c.ordinal,
        chunks.c.chunk_id,
        chunks.c.block_tokens,
    )
    query = (
        _in_force(collection_id, at, *columns)
        .join(versions, versions.c.id == chunks.c.version_id)
        .order_by(chunks.c.block_tokens.desc(), chunks.c.chunk_id)
        .limit(limit)
    )
    return [LargeBlock._make(row) for row in connection.execute(query)]


def kind_counts(connection: sa.Connection, collection_id: int, at: Moment) -> dict[str, int]:
    """The chunks in force counted by kind, the most frequent first."""
    counted = sa.func.count().label("found")
    query = _in_force(collection_id, at, chunks.c.kind, counted).group_by(chunks.c.kind)
    found = connection.execute(query.order_by(counted.desc(), chunks.c.kind))
    return {row.kind: row.found for row in found}


class DocumentCounts(NamedTuple):
    """Documents with a version in force at a moment, and all that were ever ingested (those that
    were erased left out).
    """

    in_force: int
    known: int


def document_counts(connection: sa.Connection, collection_id: int, at: Moment) -> DocumentCounts:
    """How many documents are in force at `at`, and how many there are."""
    own = sa.and_(documents.c.collection_id == collection_id, documents.c.erased_at.is_(None))
    known = (
        sa.select(sa.func.count()).select_from(documents).where(own, documents.c.last_version > 0)
    )
    current = (
        sa.select(sa.func.count(versions.c.document_id.distinct()))
        .join(documents, documents.c.id == versions.c.document_id)
        .where(own, versions.c.pruned_at.is_(None), in_force_clause(versions, at))
    )
    return DocumentCounts(
        connection.execute(current).scalar() or 0, connection.execute(known).scalar() or 0
    )


def _in_force(collection_id: int, at: Moment, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(*columns)
        .select_from(chunks)
        .where(chunks.c.collection_id == collection_id, in_force_clause(chunks, at))
    )
