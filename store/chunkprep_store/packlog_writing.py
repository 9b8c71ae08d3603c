"""Writing the log of packs, a batch in a few statements in the driver's own words.

A row for each call would cost more than the rows, and on SQLite, where every step lets go of the
interpreter, it would take its time from the requests beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import orjson
import sqlalchemy as sa

from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.model import Moment
from chunkprep_store.packlog import PackRecord, to_record
from chunkprep_store.tables import packs

Used = tuple[int, int, str, int | None, int | None]
"""A packed chunk: pack, position, chunk id, cut offset, version."""


Waiting = tuple[str, PackRecord]
"""A record to write, and the id that was asked for: its own may be a further one."""


def write_packs(
    connection: sa.Connection, collection_id: int, records: Sequence[PackRecord]
) -> list[tuple[str, str]]:
    """Write records in one go. One that is there already, as after a connection that was lost, is
    left out; another one whose id is taken gets a further id: returns these, asked and stored.
    """
    waiting: list[Waiting] = [(record.request_id, record) for record in records]
    settled: list[Waiting] = []
    while waiting:
        known = _known(connection, collection_id, {record.request_id for _, record in waiting})
        fresh: list[Waiting] = []
        again: list[Waiting] = []
        for asked, record in waiting:
            there = known.get(record.request_id)
            if there is None:
                known[record.request_id] = record
                fresh.append((asked, record))
            elif _same(there, record):
                settled.append((asked, record))
            else:
                again.append((asked, _renamed(record)))
        written = _write_fresh(connection, collection_id, [record for _, record in fresh])
        for one in fresh:  # an id that was not written was taken by another writer meanwhile
            (settled if one[1].request_id in written else again).append(one)
        waiting = again
    return [(asked, record.request_id) for asked, record in settled if asked != record.request_id]


def _same(one: PackRecord, other: PackRecord) -> bool:
    return replace(one, chunks=()) == replace(other, chunks=())


def _renamed(record: PackRecord) -> PackRecord:
    """The record under a further id, the same one whenever it is made."""
    parts = (record.request_id, str(record.at), record.request_json, record.result_json)
    return replace(record, request_id=f"{record.request_id}~{fingerprint(*parts)}")


def _write_fresh(
    connection: sa.Connection, collection_id: int, fresh: Sequence[PackRecord]
) -> set[str]:
    """Write records; returns the ids of those that were, but for ids that are taken by now."""
    if not fresh:
        return set()
    by_id = {record.request_id: record for record in fresh}
    stored = _stored(connection, fresh)
    rows = _insert_packs(connection, [_row(collection_id, record) for record in fresh])
    used: list[Used] = [
        (number, chunk.position, chunk.chunk_id, chunk.offset, chunk.version_id)
        if stored.get(chunk.version_id, record.at + 1) <= record.at
        else (number, chunk.position, chunk.chunk_id, chunk.offset, None)
        for key, number in rows
        for record in [by_id[key]]
        for chunk in record.chunks
    ]
    if used:
        used.sort(key=_by_version)
        _insert_used(connection, used)
    return {key for key, _ in rows}


def _stored(connection: sa.Connection, records: Sequence[PackRecord]) -> dict[int | None, Moment]:
    """When the versions that the packs name were stored. SQLite gives the number of one that was
    erased to another: one stored after the pack is not the one that it used.
    """
    named = sorted({c.version_id for record in records for c in record.chunks if c.version_id})
    if connection.dialect.name == "sqlite":
        found = connection.exec_driver_sql(_STORED_SQLITE, (orjson.dumps(named).decode(),))
    else:
        found = connection.exec_driver_sql(_STORED_POSTGRESQL, (named,))
    return dict(map(tuple, found))


_STORED_SQLITE = (
    "SELECT v.id, v.stored_at FROM versions v WHERE v.id IN (SELECT value FROM json_each(?))"
)
_STORED_POSTGRESQL = "SELECT v.id, v.stored_at FROM versions v WHERE v.id = ANY(%s::bigint[])"


def _by_version(chunk: Used) -> int:
    return chunk[4] or 0  # neighbours in the index: each of its pages is written once


def _known(
    connection: sa.Connection, collection_id: int, request_ids: Collection[str]
) -> dict[str, PackRecord]:
    """The records, without their chunks, that are there under these ids: as a rule none."""
    query = sa.select(packs).where(
        packs.c.collection_id == collection_id, packs.c.request_id.in_(request_ids)
    )
    return {row.request_id: to_record(row) for row in connection.execute(query)}


_PACK = {
    "collection_id": "bigint", "request_id": "text", "at": "bigint", "as_of": "bigint",
    "encoding": "text", "slot": "integer", "used_tokens": "integer", "request": "text",
    "result": "text", "warnings": "text",
}  # fmt: skip
"""The columns of a pack in the order of `_row`, with PostgreSQL's types."""
_INSERT_PACKS = (
    f"INSERT INTO packs ({', '.join(_PACK)}) {{rows}} ON CONFLICT DO NOTHING "
    "RETURNING request_id, id"
)
_PACKS_POSTGRESQL = _INSERT_PACKS.format(
    rows=f"SELECT * FROM unnest({', '.join(f'%b::{kind}[]' for kind in _PACK.values())})"  # noqa: S608
)
_AT_A_TIME = 20
"""Packs in one statement on SQLite, which holds their texts twice meanwhile."""


def _row(collection_id: int, record: PackRecord) -> tuple[object, ...]:
    return (
        collection_id,
        record.request_id,
        record.at,
        record.as_of,
        record.encoding,
        record.slot,
        record.used_tokens,
        record.request_json,
        record.result_json,
        orjson.dumps(record.warnings).decode(),
    )


def _insert_packs(
    connection: sa.Connection, rows: Sequence[tuple[object, ...]]
) -> list[tuple[str, int]]:
    """Write packs; request ids and row numbers of those written."""
    if connection.dialect.name == "postgresql":
        found = connection.exec_driver_sql(_PACKS_POSTGRESQL, _columns(rows))
        return [(key, number) for key, number in found]
    written: list[tuple[str, int]] = []
    for start in range(0, len(rows), _AT_A_TIME):
        some = rows[start : start + _AT_A_TIME]
        one = f"({', '.join('?' * len(_PACK))})"
        statement = _INSERT_PACKS.format(rows=f"VALUES {', '.join([one] * len(some))}")
        values = tuple(value for row in some for value in row)
        written += [(key, number) for key, number in connection.exec_driver_sql(statement, values)]
    return written


_INSERT_USED = (
    "INSERT INTO pack_chunks (pack_id, position, chunk_id, cut_offset, version_id) "
    "SELECT u.pack, u.place, u.key, u.cut, "
    "COALESCE(u.version, (SELECT c.version_id FROM chunks c WHERE c.chunk_id = u.key)) "
    "FROM ({rows}) u"
)
_USED_SQLITE = _INSERT_USED.format(
    rows="SELECT json_extract(value, '$[0]') AS pack, json_extract(value, '$[1]') AS place, "
    "json_extract(value, '$[2]') AS key, json_extract(value, '$[3]') AS cut, "
    "json_extract(value, '$[4]') AS version FROM json_each(?)"
)
_USED_POSTGRESQL = _INSERT_USED.format(
    rows="SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::text[], %b::integer[], "
    "%b::bigint[]) AS w(pack, place, key, cut, version)"
)


def _insert_used(connection: sa.Connection, used: Sequence[Used]) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(_USED_SQLITE, (orjson.dumps(used).decode(),))
    else:
        connection.exec_driver_sql(_USED_POSTGRESQL, _columns(used))


def _columns(rows: Iterable[tuple[object, ...]]) -> tuple[list[object], ...]:
    return tuple(list(column) for column in zip(*rows, strict=True))
