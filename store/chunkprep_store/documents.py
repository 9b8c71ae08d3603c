"""Reading what is stored: documents, their versions, their chunks, their parsed form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import NotFoundError, StoreError
from chunkprep_ingest.model import ChunkRow, Moment, ParsedDocument
from chunkprep_store.clauses import in_force_clause, opens_clause
from chunkprep_store.rows import decode_elements
from chunkprep_store.tables import (
    chunks,
    documents,
    elements,
    metadata_history,
    versions,
)

_STANDING = ("active", "draft")


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of one field, or of the status, of a version."""

    at: Moment
    field: str
    old: str | None
    new: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A version as `docs` and `versions` list it. Moments in microseconds UTC, `access` and
    `tags` parsed, `tokens` the sum of its blocks.
    """

    document: str
    title: str
    version: int
    status: str
    effective_from: Moment | None
    effective_to: Moment | None
    valid_from: Moment | None
    valid_to: Moment | None
    review_by: Moment | None
    edition: str | None
    authority: int
    access: tuple[str, ...]
    tags: tuple[str, ...]
    source: str | None
    chunks: int
    tokens: int
    coverage: float
    ingested_at: Moment
    superseded_at: Moment | None
    withdrawn_at: Moment | None
    reason: str | None
    uri: str
    bytes_hash: str
    policy: str
    profile: str
    reader: str
    warnings: tuple[str, ...]
    missing: tuple[str, ...]
    metadata_json: str
    history: tuple[HistoryEntry, ...] = ()


def _version_rows(collection_id: int) -> sa.Select[Any]:
    return (
        sa.select(documents.c.document, versions)
        .join(versions, versions.c.document_id == documents.c.id)
        .where(documents.c.collection_id == collection_id, versions.c.pruned_at.is_(None))
    )


def list_documents(
    connection: sa.Connection,
    collection_id: int,
    at: Moment | None,
    *,
    after: str | None = None,
    limit: int | None = None,
    access: Collection[str] | None = None,
) -> Iterator[VersionInfo]:
    """The version that stands for each document, withdrawn ones included; with `at`, the
    version in force then, of the documents that have one. In the database's order of the key,
    from the first one `after`. With `access` (labels): what a caller with these may see.
    """
    query = _version_rows(collection_id).order_by(documents.c.document).limit(limit)
    if after is not None:
        query = query.where(documents.c.document > after)
    if access is not None:
        query = query.where(opens_clause(versions, connection.dialect.name, access))
    if at is None:
        query = query.where(versions.c.version == documents.c.current_version)
    else:
        query = query.where(in_force_clause(versions, at))
    for row in connection.execute(query, execution_options={"yield_per": 500}):
        yield _info(row)


def standing_uris(connection: sa.Connection, collection_id: int) -> dict[str, str]:
    """Where each document was read from that is active, or a draft, by its key."""
    query = (
        sa.select(documents.c.document, versions.c.uri)
        .join(versions, versions.c.document_id == documents.c.id)
        .where(documents.c.collection_id == collection_id, versions.c.status.in_(_STANDING))
        .order_by(versions.c.version)
    )
    return {row.document: row.uri for row in connection.execute(query)}


def list_versions(
    connection: sa.Connection, collection_id: int, document: str
) -> list[VersionInfo]:
    """Every stored version of a document with its history, in order. Raises NotFoundError."""
    query = _version_rows(collection_id).where(documents.c.document == document)
    rows = connection.execute(query.order_by(versions.c.version)).all()
    if not rows:
        raise _nothing_left(connection, collection_id, document)
    history: dict[int, list[HistoryEntry]] = defaultdict(list)
    entries = (
        sa.select(metadata_history)
        .where(metadata_history.c.version_id.in_([row.id for row in rows]))
        .order_by(metadata_history.c.id)
    )
    for e in connection.execute(entries):
        history[e.version_id].append(HistoryEntry(e.at, e.field, e.old, e.new, e.reason))
    return [_info(row, tuple(history[row.id])) for row in rows]


def _nothing_left(connection: sa.Connection, collection_id: int, document: str) -> NotFoundError:
    """Not found, or known once: erased, or pruned to the last version."""
    row = connection.execute(
        sa.select(documents.c.last_version, documents.c.erased_at).where(
            documents.c.collection_id == collection_id, documents.c.document == document
        )
    ).first()
    if row is None or row.last_version == 0:
        return not_found(document)
    what = "pruned" if row.erased_at is None else "erased"
    return NotFoundError(
        f"document {document!r} was {what}, nothing of it is left; `chunkprep restore` lets its "
        f"next ingest store it anew"
    )


def not_found(document: str) -> NotFoundError:
    """The error for a document that the collection does not hold."""
    return NotFoundError(
        f"document {document!r} is not in this collection; `chunkprep docs` lists what is"
    )


def _list(row: sa.Row[Any], column: str) -> tuple[Any, ...]:
    """A version's JSON list. Raises StoreError naming the row where it cannot be read."""
    try:
        return tuple(orjson.loads(getattr(row, column)))
    except (orjson.JSONDecodeError, TypeError) as error:
        raise StoreError(
            f"{row.document}, version {row.version}: {column} cannot be read ({error}); "
            f"`chunkprep audit` names every such row"
        ) from error


def _info(row: sa.Row[Any], history: tuple[HistoryEntry, ...] = ()) -> VersionInfo:
    return VersionInfo(
        document=row.document,
        title=row.title,
        version=row.version,
        status=row.status,
        effective_from=row.effective_from,
        effective_to=row.effective_to,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        review_by=row.review_by,
        edition=row.edition,
        authority=row.authority,
        access=_list(row, "access"),
        tags=_list(row, "tags"),
        source=row.source,
        chunks=row.chunks,
        tokens=row.tokens,
        coverage=row.coverage,
        ingested_at=row.stored_at,
        superseded_at=row.superseded_at,
        withdrawn_at=row.withdrawn_at,
        reason=row.reason,
        uri=row.uri,
        bytes_hash=row.bytes_hash,
        policy=row.policy,
        profile=row.profile,
        reader=row.reader,
        warnings=_list(row, "warnings"),
        missing=_list(row, "missing"),
        metadata_json=row.metadata,
        history=history,
    )


def version_id_of(
    connection: sa.Connection,
    collection_id: int,
    document: str,
    version: int | None = None,
    at: Moment | None = None,
) -> int:
    """The row number of the version meant: `version`, or in force at `at`, or the current one.

    Raises NotFoundError.
    """
    query = _version_rows(collection_id).where(documents.c.document == document)
    if version is not None:
        query = query.where(versions.c.version == version)
    elif at is not None:
        query = query.where(in_force_clause(versions, at))
    else:
        query = query.where(versions.c.version == documents.c.current_version)
    row = connection.execute(query).first()
    if row is None:
        list_versions(connection, collection_id, document)
        raise NotFoundError(
            f"document {document!r} has no version "
            + (f"{version}" if version is not None else "in force then")
            + "; `chunkprep versions` lists what it has"
        )
    return int(row.id)


def version_chunks(connection: sa.Connection, version_id: int) -> list[ChunkRow]:
    """A version's chunks, in order."""
    columns = [chunks.c[name] for name in ChunkRow._fields]
    query = sa.select(*columns).where(chunks.c.version_id == version_id).order_by(chunks.c.ordinal)
    return [ChunkRow._make(row) for row in connection.execute(query)]


def parsed_form(connection: sa.Connection, version_id: int) -> ParsedDocument:
    """The parsed document of a version, so that chunks can be made again without its file."""
    row = connection.execute(
        sa.select(versions, elements.c.payload)
        .join(elements, elements.c.version_id == versions.c.id)
        .where(versions.c.id == version_id)
    ).first()
    if row is None:
        raise NotFoundError("this version's elements were pruned; ingest the file again")
    text, spans = decode_elements(row.payload)
    return ParsedDocument(
        text=text,
        elements=spans,
        reader=row.reader,
        title=row.title,
        coverage=row.coverage,
        missing=tuple(orjson.loads(row.missing)),
        warnings=tuple(orjson.loads(row.warnings)),
    )
