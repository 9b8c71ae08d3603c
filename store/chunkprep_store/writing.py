"""Writing a version: everything about it in one transaction, or nothing."""

from __future__ import annotations

from typing import Literal

import sqlalchemy as sa

from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_store.adding import Outcome, WriteOutcome, add_version, id_base, insert_content
from chunkprep_store.arrival import Arrival, decide, new_row, version_values
from chunkprep_store.changes import Outbox
from chunkprep_store.collection import ensure_collection
from chunkprep_store.history import (
    DocumentRow,
    VersionRow,
    link_versions,
    lock_documents,
    versions_of,
)
from chunkprep_store.inplace import update_in_place
from chunkprep_store.links import links_from, lock_links
from chunkprep_store.recutting import add_cut, still_open
from chunkprep_store.rows import chunk_rows, encode_elements, shared_columns, standing_columns
from chunkprep_store.runs import forget_failure
from chunkprep_store.succession import ends_by_link, follow, holding, link_to_document
from chunkprep_store.tables import chunks, elements


def write_version(
    connection: sa.Connection,
    collection: str,
    prepared: PreparedVersion,
    now: Moment,
    run_id: str | None,
) -> WriteOutcome:
    """Store a prepared version. Raises MetadataError."""
    source = Metadata.model_validate_json(prepared.metadata_json)
    prints = prepared.fingerprints
    collection_id = ensure_collection(connection, collection, now, prints.policy, prints.profile)
    locked = _lock(connection, collection_id, prepared.document, source, now)
    document = locked[prepared.document]
    if document.erased_at is not None:
        return WriteOutcome(prepared.document, 0, "skipped", 0, 0, "withdrawn")
    history = tuple(versions_of(connection, document.id))
    arrival = Arrival(collection, collection_id, document, history, prepared, source, now, run_id)
    outbox = Outbox(collection_id, arrival.stored_at)
    outcome = decide(arrival, _whole(connection, arrival.last))
    if outcome == "unchanged":
        _forget_failure(connection, arrival)
        return _standing_outcome(arrival, outcome)
    if outcome == "metadata_only":
        written = _take_over_metadata(connection, arrival, outbox)
    elif outcome == "recut":
        written = _recut(connection, arrival, outbox)
    elif outcome == "healed":
        written = _heal(connection, arrival, outbox)
    else:
        written = _insert(connection, arrival, outcome, outbox)
    _forget_failure(connection, arrival)
    outbox.send(connection)
    return written


def _lock(
    connection: sa.Connection, collection_id: int, key: str, source: Metadata, now: Moment
) -> dict[str, DocumentRow]:
    """The document and those it supersedes, or has superseded so far."""
    if source.supersedes:
        lock_links(connection, collection_id)
    locked = lock_documents(connection, collection_id, [key, *source.supersedes], now)
    others = {link.old for link in links_from(connection, locked[key].id)} - set(locked)
    if others:
        if not source.supersedes:
            lock_links(connection, collection_id)
        locked |= lock_documents(connection, collection_id, others)
    return locked


def _whole(connection: sa.Connection, last: VersionRow | None) -> bool:
    """Whether the version has all its chunk rows, as far as it was not pruned."""
    if last is None or last.pruned_at is not None:
        return True
    count = sa.select(sa.func.count()).where(chunks.c.version_id == last.id)
    return connection.execute(count).scalar() == last.chunks


def _standing_outcome(arrival: Arrival, outcome: Outcome) -> WriteOutcome:
    last = arrival.last
    if last is None:
        raise AssertionError("only a document with a version stands")
    return WriteOutcome(arrival.document.document, last.version, outcome, 0, 0, last.status)


def _take_over_metadata(
    connection: sa.Connection, arrival: Arrival, outbox: Outbox
) -> WriteOutcome:
    prepared, metadata = arrival.prepared, arrival.metadata
    update_in_place(connection, arrival.history, prepared, metadata, arrival.by_hand, outbox)
    follow(connection, arrival.document, outbox, metadata.supersedes)
    status = versions_of(connection, arrival.document.id)[-1].status
    return _standing_outcome(arrival, "metadata_only")._replace(status=status)


def _recut(connection: sa.Connection, arrival: Arrival, outbox: Outbox) -> WriteOutcome:
    """The same text in other chunks, where it is still to be served; else what stands stays."""
    written = _standing_outcome(arrival, "unchanged")
    if not arrival.same_source:
        written = _take_over_metadata(connection, arrival, outbox)
    document = arrival.document
    history = versions_of(connection, document.id)
    if not still_open(history[-1], arrival.stored_at):
        return written
    prepared, last = arrival.prepared, history[-1]
    row = add_cut(
        connection, arrival.collection, document, history, last, prepared, arrival.run_id, outbox
    )
    tokens = sum(c.block_tokens for c in prepared.chunks)
    return WriteOutcome(prepared.document, row.version, "updated", row.chunks, tokens, row.status)


def _insert(
    connection: sa.Connection,
    arrival: Arrival,
    outcome: Literal["new", "updated", "revived"],
    outbox: Outbox,
) -> WriteOutcome:
    metadata = arrival.metadata
    onto = holding(connection, arrival.document.id)
    row = new_row(arrival, onto)
    written = add_version(
        connection,
        arrival.history,
        row,
        version_values(arrival, metadata),
        outbox,
    )
    prepared = arrival.prepared
    base = id_base(arrival.collection, prepared, arrival.history, row.inputs)
    shared = {
        **shared_columns(metadata),
        **standing_columns(written.settled.of[row.version]),
        "collection_id": arrival.collection_id,
        "version_id": written.version_id,
        "document": prepared.document,
        "version": row.version,
        "policy": prepared.fingerprints.policy,
        "profile": prepared.fingerprints.profile,
        "stored_at": row.stored_at,
    }
    insert_content(
        connection,
        written.version_id,
        encode_elements(prepared.parsed),
        chunk_rows(prepared.chunks, base, shared),
    )
    ids = {v.version: v.id for v in arrival.history} | {row.version: written.version_id}
    link_versions(connection, ids, written.before, written.settled)
    if ends_by_link(row):
        link_to_document(connection, written.version_id, onto[0].new_id)
    follow(connection, arrival.document, outbox, metadata.supersedes)
    status = written.settled.of[row.version].status
    tokens = sum(c.block_tokens for c in prepared.chunks)
    return WriteOutcome(
        prepared.document, row.version, outcome, len(prepared.chunks), tokens, status
    )


def _heal(connection: sa.Connection, arrival: Arrival, outbox: Outbox) -> WriteOutcome:
    """Write again the rows that the version has lost, with the same ids."""
    last, prepared = arrival.last, arrival.prepared
    if last is None:
        raise AssertionError("only a version that exists can be healed")
    there = sa.select(chunks.c.ordinal).where(chunks.c.version_id == last.id)
    kept = set(connection.execute(there).scalars())
    shared = {
        **shared_columns(Metadata.model_validate_json(last.metadata)),
        **standing_columns(last.standing),
        "collection_id": arrival.collection_id,
        "version_id": last.id,
        "document": prepared.document,
        "version": last.version,
        "policy": prepared.fingerprints.policy,
        "profile": prepared.fingerprints.profile,
        "stored_at": last.stored_at,
    }
    base = id_base(arrival.collection, prepared, arrival.history[:-1], last.inputs)
    lost = [c for c in prepared.chunks if c.ordinal not in kept]
    connection.execute(elements.delete().where(elements.c.version_id == last.id))
    insert_content(
        connection, last.id, encode_elements(prepared.parsed), chunk_rows(lost, base, shared)
    )
    outbox.note(last.id, last.chunks, None, last.standing)
    tokens = sum(c.block_tokens for c in lost)
    return WriteOutcome(prepared.document, last.version, "updated", len(lost), tokens, last.status)


def _forget_failure(connection: sa.Connection, arrival: Arrival) -> None:
    forget_failure(connection, arrival.collection_id, arrival.document.document)
