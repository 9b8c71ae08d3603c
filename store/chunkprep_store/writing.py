"""Writing a version: everything about it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.ids import chunk_id_base
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment, PreparedVersion, Status
from chunkprep_ingest.replacement import Standings, settle
from chunkprep_store.arrival import Arrival, carried, decide, new_row, version_values
from chunkprep_store.changes import Outbox
from chunkprep_store.collection import ensure_collection
from chunkprep_store.history import (
    DocumentRow,
    VersionRow,
    apply_standings,
    link_versions,
    lock_documents,
    set_current,
    versions_of,
)
from chunkprep_store.inplace import merge_metadata, update_in_place
from chunkprep_store.links import (
    follow_metadata,
    link_to_document,
    links_from,
    links_onto,
    lock_links,
)
from chunkprep_store.rows import (
    chunk_rows,
    encode_elements,
    insert_chunks,
    shared_columns,
    standing_columns,
)
from chunkprep_store.runs import forget_failure
from chunkprep_store.tables import chunks, elements, versions

Outcome = Literal["new", "updated", "metadata_only", "unchanged", "revived", "skipped"]


class WriteOutcome(NamedTuple):
    """What became of a prepared version. `chunks` and `tokens` are those written (0 where none).

    `skipped`: the document was erased; its tombstone stays until `restore`.
    """

    document: str
    version: int
    outcome: Outcome
    chunks: int
    tokens: int
    status: Status = "active"


def write_version(
    connection: sa.Connection,
    collection: str,
    prepared: PreparedVersion,
    now: Moment,
    run_id: str | None,
) -> WriteOutcome:
    """Store a prepared version as DESIGN.md section 4 says. Raises MetadataError."""
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
        metadata = update_in_place(connection, arrival.history, prepared, source, outbox)
        follow_metadata(connection, document, metadata, locked, outbox)
        written = _standing_outcome(arrival, outcome)
    elif outcome == "healed":
        written = _heal(connection, arrival, outbox)
    else:
        written = _insert(connection, arrival, outcome, locked, outbox)
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


def _insert(
    connection: sa.Connection,
    arrival: Arrival,
    outcome: Literal["new", "updated", "revived"],
    locked: dict[str, DocumentRow],
    outbox: Outbox,
) -> WriteOutcome:
    overrides = carried(arrival)
    metadata = merge_metadata(arrival.source, overrides)
    row = new_row(arrival, metadata, overrides, links_onto(connection, arrival.document.id))
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
    if (row.closed_by or "").startswith("document:"):
        onto = links_onto(connection, arrival.document.id)
        link_to_document(connection, written.version_id, onto[0].new_id)
    fresh = arrival.document._replace(last_version=row.version)
    if metadata.status != "draft":
        follow_metadata(connection, fresh, metadata, locked, outbox)
    status = written.settled.of[row.version].status
    tokens = sum(c.block_tokens for c in prepared.chunks)
    return WriteOutcome(
        prepared.document, row.version, outcome, len(prepared.chunks), tokens, status
    )


def id_base(
    collection: str, prepared: PreparedVersion, history: Iterable[VersionRow], inputs: str
) -> str:
    """What the new version's chunk ids share; tells A, B, A apart by how often A was here."""
    prints = prepared.fingerprints
    return chunk_id_base(
        collection,
        prepared.document,
        prepared.content_hash,
        prepared.rendered,
        (prints.reader, prints.policy, prints.profile),
        sum(version.inputs == inputs for version in history),
    )


class Added(NamedTuple):
    """A version row that was inserted, and the document's standings with it."""

    version_id: int
    before: Standings | None
    settled: Standings


def add_version(
    connection: sa.Connection,
    history: Iterable[VersionRow],
    row: VersionRow,
    values: dict[str, Any],
    outbox: Outbox,
) -> Added:
    """Settle the document with the new version, end its predecessors, insert the row."""
    history = list(history)
    before = settle(v.facts for v in history) if history else None
    settled = settle([*(v.facts for v in history), row.facts])
    standing = settled.of[row.version]
    reason = f"replaced by version {row.version}"
    apply_standings(connection, history, settled, outbox, reason)
    columns = {
        **row._asdict(),
        **values,
        **standing_columns(standing),
        "changed_at": outbox.at,
    }
    del columns["id"]
    if standing.status in ("superseded", "withdrawn"):
        columns[f"{standing.status}_at"] = outbox.at
    version_id = int(connection.execute(_INSERT_VERSION, columns).scalar_one())
    numbers = {"last_version": row.version, "current_version": settled.current}
    set_current(connection, row.document_id, **numbers)
    outbox.note(version_id, row.chunks, None, standing)
    return Added(version_id, before, settled)


_INSERT_VERSION = versions.insert().returning(versions.c.id)


def insert_content(
    connection: sa.Connection, version_id: int, payload: bytes, rows: Iterable[dict[str, Any]]
) -> None:
    """The parsed form and the chunks of a version."""
    connection.execute(_INSERT_ELEMENTS, {"version_id": version_id, "payload": payload})
    insert_chunks(connection, rows)


_INSERT_ELEMENTS = elements.insert()


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
