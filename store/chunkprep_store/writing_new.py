"""Writing many documents that are not here yet: all of them in one transaction, or none.

A new document has no history, so that nothing is to be asked of it and nothing else changes with
it. What is left are a few statements for all of them; each document is whole in them, as alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_ingest.replacement import Standing, settle
from chunkprep_store.adding import WriteOutcome, id_base, insert_contents, version_row
from chunkprep_store.arrival import Arrival, new_row, version_values
from chunkprep_store.changes import Outbox
from chunkprep_store.collection import ensure_collection
from chunkprep_store.history import DocumentRow, VersionRow
from chunkprep_store.rows import (
    chunk_rows,
    encode_elements,
    shared_columns,
    standing_columns,
    to_json,
)
from chunkprep_store.runs import forget_failures
from chunkprep_store.tables import versions


class Parcel(NamedTuple):
    """A prepared version with all that can be made ready outside of the transaction, in which
    other writers wait: its metadata, its parsed form and its chunks as the rows hold them.
    """

    prepared: PreparedVersion
    source: Metadata
    payload: bytes
    rows: tuple[dict[str, Any], ...]


def parcels(collection: str, prepared: Iterable[PreparedVersion]) -> dict[str, Parcel]:
    """Those of the prepared versions that supersede no other document, by document. Of two
    versions of a document it is the first.
    """
    made: dict[str, Parcel] = {}
    for version in prepared:
        source = Metadata.model_validate_json(version.metadata_json)
        if source.supersedes or version.document in made:
            continue
        base = id_base(collection, version, (), "")
        rows = tuple(chunk_rows(version.chunks, base, {}))
        made[version.document] = Parcel(version, source, encode_elements(version.parsed), rows)
    return made


class _Newcomer(NamedTuple):
    """A document's first version, settled."""

    parcel: Parcel
    arrival: Arrival
    row: VersionRow
    standing: Standing


def write_new(
    connection: sa.Connection,
    collection: str,
    made: Mapping[str, Parcel],
    now: Moment,
    run_id: str | None,
) -> list[WriteOutcome]:
    """Store those of the parcels, at least one, whose documents are not here yet; says which
    those were.
    """
    prints = next(iter(made.values())).prepared.fingerprints
    collection_id = ensure_collection(connection, collection, now, prints.policy, prints.profile)
    newcomers: list[_Newcomer] = []
    for number, key in _named(connection, collection_id, sorted(made), now):
        document, parcel = DocumentRow(number, key, 0, None, None), made[key]
        arrival = Arrival(
            collection, collection_id, document, (), parcel.prepared, parcel.source, now, run_id
        )
        row = new_row(arrival, ())
        newcomers.append(_Newcomer(parcel, arrival, row, settle([row.facts]).of[row.version]))
    if newcomers:
        _insert(connection, newcomers, Outbox(collection_id, now))
    return [_outcome(newcomer) for newcomer in newcomers]


def _named(
    connection: sa.Connection, collection_id: int, keys: Sequence[str], now: Moment
) -> list[tuple[int, str]]:
    """Give the documents that are not here yet their rows: row numbers and keys of those.

    Nobody else sees the rows, or can make them, until the transaction ends.
    """
    statement = _NAME_SQLITE if connection.dialect.name == "sqlite" else _NAME_POSTGRES
    values = {"owner": collection_id, "now": now, "keys": to_json(keys)}
    return [(row.id, row.document) for row in connection.execute(statement, values)]


_NAME = """
    INSERT INTO documents (collection_id, document, last_version, current_version, created_at)
    SELECT CAST(:owner AS BIGINT), value, 1, 1, CAST(:now AS BIGINT) FROM {} WHERE true
    ON CONFLICT DO NOTHING RETURNING id, document
"""
_NAME_SQLITE = sa.text(_NAME.format("json_each(:keys)"))
_NAME_POSTGRES = sa.text(_NAME.format("json_array_elements_text(CAST(:keys AS json)) AS k(value)"))


def _insert(connection: sa.Connection, newcomers: Sequence[_Newcomer], outbox: Outbox) -> None:
    columns = [
        version_row(n.row, version_values(n.arrival, n.arrival.metadata), n.standing, outbox.at)
        for n in newcomers
    ]
    connection.execute(_INSERT_VERSIONS, columns)
    owners = [n.row.document_id for n in newcomers]
    ids = {row.document_id: int(row.id) for row in connection.execute(_IDS, {"owners": owners})}
    contents = []
    rows: list[dict[str, Any]] = []
    for newcomer in newcomers:
        version_id = ids[newcomer.row.document_id]
        contents.append((version_id, newcomer.parcel.payload))
        rows += _chunk_rows(newcomer, version_id)
        outbox.note(version_id, newcomer.row.chunks, None, newcomer.standing)
    insert_contents(connection, contents, rows)
    keys = [n.arrival.document.document for n in newcomers]
    forget_failures(connection, outbox.collection_id, keys)
    outbox.send(connection)


_INSERT_VERSIONS = versions.insert()
_IDS = sa.select(versions.c.document_id, versions.c.id).where(
    versions.c.document_id.in_(sa.bindparam("owners", expanding=True))
)


def _chunk_rows(newcomer: _Newcomer, version_id: int) -> Iterable[dict[str, Any]]:
    arrival, row = newcomer.arrival, newcomer.row
    prepared = arrival.prepared
    shared = {
        **shared_columns(arrival.metadata),
        **standing_columns(newcomer.standing),
        "collection_id": arrival.collection_id,
        "version_id": version_id,
        "document": prepared.document,
        "version": row.version,
        "policy": row.policy,
        "profile": row.profile,
        "stored_at": row.stored_at,
    }
    return (own | shared for own in newcomer.parcel.rows)


def _outcome(newcomer: _Newcomer) -> WriteOutcome:
    prepared = newcomer.arrival.prepared
    tokens = sum(chunk.block_tokens for chunk in prepared.chunks)
    return WriteOutcome(
        prepared.document,
        newcomer.row.version,
        "new",
        len(prepared.chunks),
        tokens,
        newcomer.standing.status,
    )
