"""Cutting a version again: the same text in other chunks, and nothing else about it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_ingest.replacement import cuts_of, settle
from chunkprep_store.adding import WriteOutcome, add_version, id_base, insert_content
from chunkprep_store.changes import Outbox
from chunkprep_store.history import (
    RECUT,
    DocumentRow,
    VersionRow,
    hold,
    link_versions,
    versions_of,
)
from chunkprep_store.rows import (
    chunk_rows,
    encode_elements,
    inputs_digest,
    shared_columns,
    standing_columns,
    to_json,
    version_columns,
)
from chunkprep_store.succession import ends_by_link, holding, link_to_document
from chunkprep_store.tables import chunks, documents, metadata_history


def still_open(row: VersionRow, at: Moment) -> bool:
    """Whether a version is in force at `at`, or may come into force later; a draft may."""
    if row.status == "draft":
        return True
    start, end = row.effective_from, row.effective_to
    return end is None or (end > at and (start is None or start < end))


def to_recut(document: DocumentRow, history: Sequence[VersionRow], at: Moment) -> list[VersionRow]:
    """The versions to cut again, in order: those still open; of drafts the one that stands for
    the document, and the last to arrive.
    """
    cuts = cuts_of(row.facts for row in history)
    kept = (document.current_version, cuts[max(cuts)][-1].version)
    return [
        row
        for row in history
        if row.pruned_at is None
        and still_open(row, at)
        and (row.status != "draft" or row.version in kept)
    ]


def open_numbers(
    connection: sa.Connection, collection_id: int, key: str, at: Moment
) -> frozenset[int]:
    """The numbers of the versions to cut again."""
    query = sa.select(*(documents.c[name] for name in DocumentRow._fields)).where(
        documents.c.collection_id == collection_id, documents.c.document == key
    )
    found = connection.execute(query).first()
    history = versions_of(connection, found.id) if found is not None else []
    if found is None or not history:
        return frozenset()
    return frozenset(row.version for row in to_recut(DocumentRow._make(found), history, at))


def recut(
    connection: sa.Connection,
    collection: str,
    collection_id: int,
    prepared: PreparedVersion,
    version: int,
    now: Moment,
    run_id: str | None,
) -> WriteOutcome:
    """Store the text of a stored version in other chunks; `skipped` where it is open no more.

    Raises NotFoundError, StoreError where `prepared` holds another text.
    """
    held = hold(connection, collection_id, prepared.document)
    at = max([now, *(row.decided_at + 1 for row in held.history)])
    newest = {row.recut_of for row in held.history}
    cut = next((v for v in to_recut(*held, at) if v.version == version), None)
    if cut is None or cut.version in newest:
        current = held.current
        return WriteOutcome(prepared.document, current.version, "skipped", 0, 0, current.status)
    if cut.content_hash != prepared.content_hash:
        raise StoreError(f"{prepared.document}: version {version} holds another text")
    if cut.inputs == inputs_digest(prepared):
        return WriteOutcome(prepared.document, version, "unchanged", 0, 0, cut.status)
    outbox = Outbox(collection_id, at)
    row = add_cut(connection, collection, *held, cut, prepared, run_id, outbox)
    outbox.send(connection)
    tokens = sum(c.block_tokens for c in prepared.chunks)
    return WriteOutcome(prepared.document, row.version, "updated", row.chunks, tokens, row.status)


def add_cut(
    connection: sa.Connection,
    collection: str,
    document: DocumentRow,
    history: Sequence[VersionRow],
    cut: VersionRow,
    prepared: PreparedVersion,
    run_id: str | None,
    outbox: Outbox,
) -> VersionRow:
    """Store `prepared`, the text of version `cut` in other chunks, with all that was decided of it.

    The time in force is divided at `outbox.at`. What is known of the source stays that of the last
    version.
    """
    last = history[-1]
    row = cut._replace(
        version=document.last_version + 1,
        origin=f"{RECUT}:{cut.version}",
        inputs=inputs_digest(prepared),
        reader=prepared.fingerprints.reader,
        policy=prepared.fingerprints.policy,
        profile=prepared.fingerprints.profile,
        bytes_hash=last.bytes_hash,
        source_metadata=last.source_metadata,
        uri=last.uri,
        etag=last.etag,
        stored_at=outbox.at,
        chunks=len(prepared.chunks),
    )
    metadata = Metadata.model_validate_json(cut.metadata)
    values = {**version_columns(metadata), **_read_again(prepared), "run_id": run_id}
    added = add_version(connection, history, row, values, outbox)
    standing = added.settled.of[row.version]
    shared = {
        **shared_columns(metadata),
        **standing_columns(standing),
        "collection_id": outbox.collection_id,
        "version_id": added.version_id,
        "document": prepared.document,
        "version": row.version,
        "policy": row.policy,
        "profile": row.profile,
        "stored_at": row.stored_at,
        "held_from": _held_from(connection, cut),
    }
    base = id_base(collection, prepared, history, row.inputs)
    content = chunk_rows(prepared.chunks, base, shared)
    insert_content(connection, added.version_id, encode_elements(prepared.parsed), content)
    _copy_history(connection, cut.id, added.version_id)
    ids = {v.version: v.id for v in history} | {row.version: added.version_id}
    link_versions(connection, ids, settle(v.facts for v in history), added.settled)
    if ends_by_link(row):
        for link in holding(connection, document.id)[:1]:
            link_to_document(connection, added.version_id, link.new_id)
    return row._replace(status=standing.status)


def _read_again(prepared: PreparedVersion) -> dict[str, Any]:
    return {
        "title": prepared.title,
        "rendered": prepared.rendered,
        "coverage": prepared.parsed.coverage,
        "missing": to_json(prepared.parsed.missing),
        "warnings": to_json(prepared.warnings),
        "tokens": sum(c.block_tokens for c in prepared.chunks),
    }


def _held_from(connection: sa.Connection, cut: VersionRow) -> Moment:
    """Since when the text holds, however often it was cut."""
    held = sa.select(sa.func.min(chunks.c.held_from)).where(chunks.c.version_id == cut.id)
    known = connection.execute(held).scalar()
    if known is not None:
        return int(known)
    return cut.stored_at if cut.effective_from is None else cut.effective_from


def _copy_history(connection: sa.Connection, old_id: int, new_id: int) -> None:
    """What was changed by hand or by the source, but for the status, is told of the new one too."""
    told = [c for c in metadata_history.c if c.name not in ("id", "version_id")]
    kept = sa.select(sa.literal(new_id, sa.BigInteger), *told).where(
        metadata_history.c.version_id == old_id, metadata_history.c.field != "status"
    )
    names = ["version_id", *(c.name for c in told)]
    connection.execute(metadata_history.insert().from_select(names, kept.order_by(told[0])))
