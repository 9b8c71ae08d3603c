"""Checks that chunks say what their version says: one query over all columns that are copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import chunk_prices, chunks, documents, versions

_COPIES: Mapping[str, tuple[str, sa.ColumnElement[object]]] = {
    "status": ("active_versions", versions.c.status),
    "effective_from": ("effective_ranges", versions.c.effective_from),
    "effective_to": ("effective_ranges", versions.c.effective_to),
    "access": ("copies", versions.c.access),
    "authority": ("copies", versions.c.authority),
    "tags": ("copies", versions.c.tags),
    "source": ("copies", versions.c.source),
    "collection_id": ("copies", documents.c.collection_id),
    "document": ("copies", documents.c.document),
    "version": ("copies", versions.c.version),
    "policy": ("copies", versions.c.policy),
    "profile": ("copies", versions.c.profile),
    "stored_at": ("copies", versions.c.stored_at),
}
"""The check that a column of chunks belongs to, and the column that it is a copy of."""

COPY_CHECKS = ("active_versions", "effective_ranges", "copies")


def copies(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Versions with chunks that have another status, range, label, … than they; of COPY_CHECKS."""
    differs = {
        name: chunks.c[name].is_distinct_from(original) for name, (_, original) in _COPIES.items()
    }
    counts = [
        sa.func.sum(sa.case((differs[name], 1), else_=0)).label(f"n_{name}") for name in _COPIES
    ]
    query = (
        sa.select(documents.c.document, versions.c.version, *counts)
        .select_from(chunks)
        .join(versions, versions.c.id == chunks.c.version_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(documents.c.collection_id == collection_id, sa.or_(*differs.values()))
        .group_by(documents.c.document, versions.c.version)
        .order_by(documents.c.document, versions.c.version)
    )
    for row in rows(connection, query):
        found = {name: int(getattr(row, f"n_{name}")) for name in _COPIES}
        for check in COPY_CHECKS:
            columns = [n for n, (of, _) in _COPIES.items() if of == check and found[n]]
            if columns:
                told = ", ".join(f"{name} of {found[name]} chunks" for name in columns)
                text = f"not as their version has it: {told}"
                yield finding(check, "error", text, row.document, row.version)


def partly_priced(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Versions of whose chunks some have a price in a further encoding, and some do not."""
    priced = sa.func.count().label("priced")
    query = (
        sa.select(
            documents.c.document,
            versions.c.version,
            versions.c.chunks,
            chunk_prices.c.encoding,
            priced,
        )
        .select_from(chunk_prices)
        .join(chunks, chunks.c.id == chunk_prices.c.chunk_row)
        .join(versions, versions.c.id == chunks.c.version_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(documents.c.collection_id == collection_id)
        .group_by(
            documents.c.document, versions.c.version, versions.c.chunks, chunk_prices.c.encoding
        )
        .having(priced < versions.c.chunks)
        .order_by(documents.c.document, versions.c.version, chunk_prices.c.encoding)
    )
    for row in rows(connection, query):
        text = f"{row.priced} of {row.chunks} chunks have a price in {row.encoding}"
        yield finding("profile_drift", "warning", text, row.document, row.version)
