"""Checks on how documents were read, split and priced, and on those that could not be."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows, stored_versions
from chunkprep_store.runs import list_failures
from chunkprep_store.tables import chunks, collections, documents, versions

MIN_COVERAGE = 0.98
"""Below it, a document counts as read incompletely."""


def policy_drift(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Active versions with chunks made under another policy than the collection's."""
    yield from _drift(connection, collection_id, "policy", "made under policy")


def profile_drift(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Active versions with chunks priced under another profile than the collection's."""
    yield from _drift(connection, collection_id, "profile", "priced under profile")


def _drift(connection: sa.Connection, collection_id: int, what: str, how: str) -> Iterator[Finding]:
    primary = connection.execute(
        sa.select(collections.c[what]).where(collections.c.id == collection_id)
    ).scalar()
    if primary is None:
        return
    stale = sa.func.min(chunks.c[what]).label("stale")
    query = (
        sa.select(chunks.c.document, chunks.c.version, stale, sa.func.count().label("count"))
        .select_from(chunks.join(versions, versions.c.id == chunks.c.version_id))
        .where(
            chunks.c.collection_id == collection_id,
            versions.c.status == "active",
            chunks.c[what] != primary,
        )
        .group_by(chunks.c.document, chunks.c.version)
        .order_by(chunks.c.document)
    )
    for row in rows(connection, query):
        text = f"{row.count} chunks {how} {row.stale}, the collection's is {primary}"
        yield finding(f"{what}_drift", "warning", text, row.document, row.version)


def low_coverage(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Active versions whose text holds less than MIN_COVERAGE of the file's words."""
    query = (
        stored_versions(collection_id, versions.c.version, versions.c.coverage, versions.c.missing)
        .where(versions.c.status == "active", versions.c.coverage < MIN_COVERAGE)
        .order_by(documents.c.document)
    )
    for row in rows(connection, query):
        text = f"only {row.coverage:.1%} of the file's words were read; missing {row.missing}"
        yield finding("low_coverage", "warning", text, row.document, row.version)


def failing(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Documents whose last ingest failed: an older version may be in force, or none."""
    for failure in list_failures(connection, collection_id):
        text = f"{failure.attempts} attempts failed: {failure.code}: {failure.message}"
        if failure.flow_run_id is not None:
            text += f" (Prefect's flow run {failure.flow_run_id})"
        found = finding("failing", "warning", text, failure.document)
        yield found._replace(remedy=failure.remedy) if failure.remedy else found
