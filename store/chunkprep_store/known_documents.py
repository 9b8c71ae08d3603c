"""What is stored of a source's document, as far as a run needs it to see whether it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.model import Fingerprints
from chunkprep_store.tables import chunks, documents, failures, versions


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


def known_documents(
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
