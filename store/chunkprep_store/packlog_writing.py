"""Writing the log of packs, a batch in a few statements in the driver's own words.

A row for each call would cost more than the rows, and on SQLite, where every step lets go of the
interpreter, it would take its time from the requests beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.packlog import PackRecord
from chunkprep_store.tables import packs

Used = tuple[int, int, str, int | None, int | None]
"""A packed chunk: pack, position, chunk id, cut offset, version."""


def write_packs(
    connection: sa.Connection, collection_id: int, records: Sequence[PackRecord]
) -> None:
    """Write records in one go; one with a request id that is there already is left out."""
    by_id = {record.request_id: record for record in records}
    there = set(connection.execute(_there(collection_id, list(by_id))).scalars())
    fresh = [_row(collection_id, by_id[key]) for key in by_id if key not in there]
    if not fresh:
        return
    stored = _stored(connection, records)
    used: list[Used] = [
        (number, chunk.position, chunk.chunk_id, chunk.offset, chunk.version_id)
        if stored.get(chunk.version_id, record.at + 1) <= record.at
        else (number, chunk.position, chunk.chunk_id, chunk.offset, None)
        for key, number in _insert_packs(connection, fresh)
        for record in [by_id[key]]
        for chunk in record.chunks
    ]
    if used:
        used.sort(key=_by_version)
        _insert_used(connection, used)


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


def _there(collection_id: int, request_ids: list[str]) -> sa.Select[str]:
    return sa.select(packs.c.request_id).where(
        packs.c.collection_id == collection_id, packs.c.request_id.in_(request_ids)
    )


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
