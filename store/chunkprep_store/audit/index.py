"""Checks of a vector index, given the ids that it holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import out_of_force_reason
from chunkprep_ingest.model import Moment
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.clauses import in_force_clause
from chunkprep_store.tables import chunks

_BATCH = 1000


def index_stale(
    connection: sa.Connection, collection_id: int, now: Moment, ids: Collection[str]
) -> Iterator[Finding]:
    """Ids in the index that are in force no more, or not there. Those still to come may stay."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), _BATCH):
        some = ordered[start : start + _BATCH]
        query = sa.select(
            chunks.c.chunk_id,
            chunks.c.document,
            chunks.c.version,
            chunks.c.status,
            chunks.c.effective_from,
            chunks.c.effective_to,
        ).where(chunks.c.collection_id == collection_id, chunks.c.chunk_id.in_(some))
        known = {row.chunk_id: row for row in connection.execute(query)}
        for chunk_id in some:
            row = known.get(chunk_id)
            if row is None:
                text = f"{chunk_id} is in the index, but not in this collection"
                yield finding("index_stale", "error", text, chunk_id=chunk_id)
                continue
            reason = out_of_force_reason(row.status, row.effective_from, row.effective_to, now)
            if reason not in (None, "not_yet_valid"):
                text = f"{chunk_id} is in the index, but {reason}"
                yield finding("index_stale", "error", text, row.document, row.version, row.chunk_id)


def index_missing(
    connection: sa.Connection, collection_id: int, now: Moment, ids: Collection[str]
) -> Iterator[Finding]:
    """Chunks in force that the index does not hold."""
    query = (
        sa.select(chunks.c.chunk_id, chunks.c.document, chunks.c.version)
        .where(chunks.c.collection_id == collection_id, in_force_clause(chunks, now))
        .order_by(chunks.c.document, chunks.c.ordinal)
    )
    for row in rows(connection, query):
        if row.chunk_id not in ids:
            text = f"{row.chunk_id} is in force, but not in the index"
            yield finding("index_missing", "warning", text, row.document, row.version, row.chunk_id)
