"""Checks of versions against what was decided of them, and against their own metadata: one pass.

Status, range and current version follow from moments and dates that are stored beside them, so that
all of them can be worked out again (`chunkprep_ingest.replacement`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import orjson
import sqlalchemy as sa

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.replacement import VersionFacts, settle
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.audit.stopped import UNREAD, cause, reading
from chunkprep_store.audit.unreadable import JSON_COLUMNS, readable_metadata
from chunkprep_store.history import VersionRow
from chunkprep_store.rows import version_columns
from chunkprep_store.tables import documents, versions

DECIDED_CHECKS = ("unreadable", "active_versions", "effective_ranges", "copies")

_OWN = ("title", "authority", "source", "review_by", "withdrawn_at")
_COLUMNS = tuple(dict.fromkeys((*VersionRow._fields, *_OWN, *JSON_COLUMNS)))
_WITHDRAWN_BY = frozenset({"hand", "sync", "metadata"})


def decided(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Versions that are not what was decided of them, not what their metadata says, or cannot be
    read; documents that name another version as current. Of DECIDED_CHECKS.
    """
    query = (
        sa.select(
            *(versions.c[name] for name in _COLUMNS),
            documents.c.document,
            documents.c.current_version,
            documents.c.last_version,
        )
        .join(versions, versions.c.document_id == documents.c.id)
        .where(documents.c.collection_id == collection_id)
        .order_by(documents.c.id, versions.c.version)
    )
    for _, group in groupby(rows(connection, query), key=attrgetter("document_id")):
        yield from _judged(list(group))


def _judged(history: Sequence[sa.Row[Any]]) -> Iterator[Finding]:
    """All about one document; a value that cannot be read is told, and leaves out only it."""
    try:
        yield from _standings(history)
    except UNREAD as error:
        text = f"what was decided of its versions cannot be told: {cause(error)}"
        yield finding("unreadable", "error", text, history[-1].document)
    for row in history:
        try:
            yield from _own_metadata(row)
        except UNREAD as error:
            text = f"columns of the version cannot be read: {cause(error)}"
            yield finding("unreadable", "error", text, row.document, row.version)


def _standings(history: Sequence[sa.Row[Any]]) -> Iterator[Finding]:
    """Against what the facts of all versions of the document make of each."""
    with reading(f"their origins {', '.join(row.origin for row in history)}"):
        facts = [_facts(row) for row in history]
        settled = settle(facts)
    for row, fact in zip(history, facts, strict=True):
        standing = settled.of[row.version]
        if row.status != standing.status:
            by = f", closed by {row.closed_by}" if fact.withdrawn else ""
            text = f"is {row.status}, but what was decided of it makes it {standing.status}{by}"
            yield finding("active_versions", "error", text, row.document, row.version)
        stored = (row.effective_from, row.effective_to)
        if stored != tuple(standing.range):
            text = f"in force {_span(*stored)}, but its dates make that {_span(*standing.range)}"
            yield finding("effective_ranges", "error", text, row.document, row.version)
    document = history[-1]
    numbers = {
        "current_version": (document.current_version, settled.current),
        "last_version": (document.last_version, document.version),
    }
    for name, (stored, expected) in numbers.items():
        if stored != expected:
            text = f"the document's {name} is {stored}, its versions make it {expected}"
            yield finding("active_versions", "error", text, document.document, expected)


def _facts(row: sa.Row[Any]) -> VersionFacts:
    """A version that was withdrawn stays so, whatever its status says now."""
    facts = VersionRow._make(row[: len(VersionRow._fields)]).facts
    if row.status == "active" and row.withdrawn_at and row.closed_by in _WITHDRAWN_BY:
        return replace(facts, withdrawn=True)
    return facts


def _span(start: int | None, end: int | None) -> str:
    return f"from {iso(start) or 'the beginning'} to {iso(end) or 'further notice'}"


def _own_metadata(row: sa.Row[Any]) -> Iterator[Finding]:
    """Columns that are copies of the version's metadata, or of what its headers show."""
    metadata, unread = readable_metadata(row)
    yield from unread
    if metadata is None:
        return
    title = orjson.loads(row.rendered).get("title", row.title)
    expected = {**version_columns(metadata), "title": title}
    del expected["metadata"]
    wrong = [name for name, value in expected.items() if getattr(row, name) != value]
    if wrong:
        told = ", ".join(f"{name} {getattr(row, name)!r}" for name in wrong)
        text = f"columns of the version are not what the rest of its row makes them: {told}"
        yield finding("copies", "error", text, row.document, row.version)
