"""Checks against the sources as they are now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import documents, versions


class UnreadSource(NamedTuple):
    """A source that could not be read: `told` names it and says why, `document` is the key that its
    document would have.
    """

    told: str
    remedy: str
    document: str


@dataclass(frozen=True, slots=True)
class Sources:
    """What a listing found: hash of the bytes by document key (None: not known), and what could not
    be read.

    `prefix` limits which documents the listing speaks for ("" for all); `moved` has the key that
    the file of another one is listed under now.
    """

    hashes: Mapping[str, str | None] = field(default_factory=dict)
    prefix: str = ""
    unread: Sequence[UnreadSource] = ()
    moved: Mapping[str, str] = field(default_factory=dict)


def source_unreadable(
    connection: sa.Connection, collection_id: int, sources: Sources
) -> Iterator[Finding]:
    """Sources that could not be read, so that nothing is known of their documents."""
    found = _standing(connection, collection_id, sources)
    versions_of = {document: version for document, version, _ in found}
    for source in sources.unread:
        version = versions_of.get(source.document)
        document = None if version is None else source.document
        told = finding("source_unreadable", "warning", source.told, document, version)
        yield told._replace(remedy=source.remedy)


def source_changed(
    connection: sa.Connection, collection_id: int, sources: Sources
) -> Iterator[Finding]:
    """Documents whose file is not the one that was read last."""
    for document, version, bytes_hash in _standing(connection, collection_id, sources):
        there = sources.hashes.get(document)
        if there is not None and there != bytes_hash:
            text = "the file differs from what was read last"
            yield finding("source_changed", "warning", text, document, version)


def source_missing(
    connection: sa.Connection, collection_id: int, sources: Sources
) -> Iterator[Finding]:
    """Documents in force whose file is gone, or is another document's now."""
    for document, version, _ in _standing(connection, collection_id, sources):
        if document not in sources.hashes:
            now = sources.moved.get(document)
            text = "the file is gone" if now is None else f"listed as {now} now"
            yield finding("source_missing", "warning", text, document, version)


def _standing(
    connection: sa.Connection, collection_id: int, sources: Sources
) -> Iterator[tuple[str, int, str]]:
    """The version that arrived last, of documents that are not withdrawn."""
    query = (
        sa.select(documents.c.document, versions.c.version, versions.c.bytes_hash)
        .join(versions, versions.c.document_id == documents.c.id)
        .where(
            documents.c.collection_id == collection_id,
            versions.c.version == documents.c.last_version,
            versions.c.status != "withdrawn",
            documents.c.document.startswith(sources.prefix, autoescape=True),
        )
        .order_by(documents.c.document)
    )
    for row in rows(connection, query):
        yield row.document, row.version, row.bytes_hash
