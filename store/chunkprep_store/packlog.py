"""The log of packs, and which packs a document went into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.tables import documents, pack_chunks, packs, versions


class PackedChunk(NamedTuple):
    """A chunk in a pack; `offset` is where it was cut, None where it is whole.

    `version_id` is the row number of its version, for writing only: None has it looked up.
    """

    chunk_id: str
    position: int
    offset: int | None = None
    version_id: int | None = None


@dataclass(frozen=True, slots=True)
class PackRecord:
    """One logged pack. `at` is when it was packed, `as_of` the time it was packed for.

    The packer decides what the JSON texts hold.
    """

    request_id: str
    at: Moment
    as_of: Moment
    encoding: str
    slot: int
    used_tokens: int
    request_json: str
    result_json: str
    warnings: tuple[str, ...] = ()
    chunks: tuple[PackedChunk, ...] = ()


class Impact(NamedTuple):
    """A logged pack that used a chunk of the document asked about."""

    request_id: str
    at: Moment
    as_of: Moment
    document: str
    version: int
    chunk_id: str
    position: int
    offset: int | None


def read_packs(
    connection: sa.Connection,
    collection_id: int,
    since: Moment | None,
    request_id: str | None,
    holds: str | None = None,
) -> Iterator[PackRecord]:
    """Logged packs, the oldest first; memory stays flat."""
    query = sa.select(packs).where(packs.c.collection_id == collection_id)
    if since is not None:
        query = query.where(packs.c.at >= since)
    if request_id is not None:
        query = query.where(packs.c.request_id == request_id)
    if holds is not None:
        query = query.where(packs.c.request.contains(holds, autoescape=True))
    query = query.order_by(packs.c.at, packs.c.id)
    streamed = connection.execute(query, execution_options={"stream_results": True})
    for rows in streamed.partitions(200):
        used = _used(connection, [row.id for row in rows])
        for row in rows:
            yield to_record(row, tuple(used[row.id]))


def _used(connection: sa.Connection, pack_ids: list[int]) -> dict[int, list[PackedChunk]]:
    used: dict[int, list[PackedChunk]] = defaultdict(list)
    query = (
        sa.select(pack_chunks)
        .where(pack_chunks.c.pack_id.in_(pack_ids))
        .order_by(pack_chunks.c.pack_id, pack_chunks.c.position)
    )
    for row in connection.execute(query):
        used[row.pack_id].append(PackedChunk(row.chunk_id, row.position, row.cut_offset))
    return used


def to_record(row: sa.Row[Any], used: tuple[PackedChunk, ...] = ()) -> PackRecord:
    """The record in a row of `packs`; `used` are its chunks."""
    return PackRecord(
        request_id=row.request_id,
        at=row.at,
        as_of=row.as_of,
        encoding=row.encoding,
        slot=row.slot,
        used_tokens=row.used_tokens,
        request_json=row.request,
        result_json=row.result,
        warnings=read_warnings(row.warnings),
        chunks=used,
    )


def read_warnings(text: str) -> tuple[str, ...]:
    """The warnings in a row of `packs`, or UNREADABLE."""
    try:
        return tuple(orjson.loads(text))
    except (orjson.JSONDecodeError, TypeError):
        return UNREADABLE


UNREADABLE = ("the warnings of this pack cannot be read",)
"""Stands for warnings that were damaged in the log."""


def impact(
    connection: sa.Connection, collection_id: int, document: str, version: int | None
) -> list[Impact]:
    """Which logged packs used a document (or one version of it), the oldest first."""
    query = (
        sa.select(
            packs.c.request_id,
            packs.c.at,
            packs.c.as_of,
            documents.c.document,
            versions.c.version,
            pack_chunks.c.chunk_id,
            pack_chunks.c.position,
            pack_chunks.c.cut_offset,
        )
        .select_from(documents)
        .join(versions, versions.c.document_id == documents.c.id)
        .join(pack_chunks, pack_chunks.c.version_id == versions.c.id)
        .join(packs, packs.c.id == pack_chunks.c.pack_id)
        .where(documents.c.collection_id == collection_id, documents.c.document == document)
        .order_by(packs.c.at, packs.c.id, pack_chunks.c.position)
    )
    if version is not None:
        query = query.where(versions.c.version == version)
    return [Impact._make(row) for row in connection.execute(query)]
