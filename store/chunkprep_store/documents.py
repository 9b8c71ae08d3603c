"""Reading what is stored: documents, their versions, their chunks, their parsed form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.model import ChunkRow, Fingerprints, Moment, ParsedDocument
from chunkprep_store.clauses import in_force_clause, opens_clause
from chunkprep_store.rows import decode_elements
from chunkprep_store.tables import (
    chunks,
    documents,
    elements,
    failures,
    metadata_history,
    versions,
)


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What a run needs to tell whether a source has changed.

    The version is the one that arrived last (None: there is only a failure, or only a name).
    `metadata_json` is the source's own, without what was set by hand. `whole` is False where
    chunk rows are missing. `attempts` counts how often the attempt with the key
    `failed_attempt` failed.
    """

    document: str
    version: int | None = None
    bytes_hash: str | None = None
    content_hash: str | None = None
    metadata_json: str | None = None
    fingerprints: Fingerprints | None = None
    status: str | None = None
    closed_by: str | None = None
    uri: str | None = None
    etag: str | None = None
    title: str | None = None
    chunks: int = 0
    whole: bool = True
    erased: bool = False
    failed_attempt: str | None = None
    attempts: int = 0


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


def known(
    connection: sa.Connection, collection_id: int, keys: Sequence[str]
) -> dict[str, KnownDocument]:
    """What is known of each key; keys that nothing is known of are left out."""
    found: dict[str, KnownDocument] = {}
    for some in _parts(keys):
        for row in connection.execute(_known_query(collection_id, some)):
            found[row.document] = _known(row)
        failed = sa.select(failures).where(
            failures.c.collection_id == collection_id, failures.c.document.in_(some)
        )
        for row in connection.execute(failed):
            values = found.get(row.document) or KnownDocument(row.document)
            found[row.document] = _replace_failure(values, row.attempt_key, row.attempts)
    return found


def _parts(keys: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _known_query(collection_id: int, keys: Sequence[str]) -> sa.Select[Any]:
    there = (
        sa.select(sa.func.count())
        .where(chunks.c.version_id == versions.c.id)
        .correlate(versions)
        .scalar_subquery()
    )
    last = sa.and_(
        versions.c.document_id == documents.c.id, versions.c.version == documents.c.last_version
    )
    return (
        sa.select(
            documents.c.document,
            documents.c.erased_at,
            *(versions.c[name] for name in _KNOWN),
            (there == versions.c.chunks).label("whole"),
        )
        .select_from(documents.outerjoin(versions, last))
        .where(documents.c.collection_id == collection_id, documents.c.document.in_(keys))
    )


_KNOWN = (
    "version", "bytes_hash", "content_hash", "source_metadata", "reader", "policy", "profile",
    "status", "closed_by", "uri", "etag", "title", "chunks", "pruned_at",
)  # fmt: skip


def _known(row: sa.Row[Any]) -> KnownDocument:
    if row.version is None:
        return KnownDocument(row.document, erased=row.erased_at is not None)
    return KnownDocument(
        document=row.document,
        version=row.version,
        bytes_hash=row.bytes_hash,
        content_hash=row.content_hash,
        metadata_json=row.source_metadata,
        fingerprints=Fingerprints(row.reader, row.policy, row.profile),
        status=row.status,
        closed_by=row.closed_by,
        uri=row.uri,
        etag=row.etag,
        title=row.title,
        chunks=row.chunks,
        whole=bool(row.whole) or row.pruned_at is not None,
        erased=row.erased_at is not None,
    )


def _replace_failure(known: KnownDocument, attempt: str | None, attempts: int) -> KnownDocument:
    values = {name: getattr(known, name) for name in KnownDocument.__slots__}
    return KnownDocument(**{**values, "failed_attempt": attempt, "attempts": attempts})


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
        access=tuple(orjson.loads(row.access)),
        tags=tuple(orjson.loads(row.tags)),
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
        warnings=tuple(orjson.loads(row.warnings)),
        missing=tuple(orjson.loads(row.missing)),
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
