"""A version row and its content go in, and the document's other versions are settled with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.ids import chunk_id_base
from chunkprep_ingest.model import Moment, PreparedVersion, Status
from chunkprep_ingest.replacement import Standing, Standings, settle
from chunkprep_store.changes import Outbox
from chunkprep_store.history import VersionRow, apply_standings, set_current
from chunkprep_store.rows import insert_chunks, standing_columns
from chunkprep_store.tables import elements, versions

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
    what = "cut again as" if row.recut_of is not None else "replaced by"
    reason = f"{what} version {row.version}"
    apply_standings(connection, history, settled, outbox, reason)
    columns = version_row(row, values, standing, outbox.at)
    version_id = int(connection.execute(_INSERT_VERSION, columns).scalar_one())
    numbers = {"last_version": row.version, "current_version": settled.current}
    set_current(connection, row.document_id, **numbers)
    outbox.note(version_id, row.chunks, None, standing)
    return Added(version_id, before, settled)


_INSERT_VERSION = versions.insert().returning(versions.c.id)


def version_row(
    row: VersionRow, values: Mapping[str, Any], standing: Standing, at: Moment
) -> dict[str, Any]:
    """All columns of a new version; `values` are those that no decision needs."""
    columns = {**row._asdict(), **values, **standing_columns(standing), "changed_at": at}
    del columns["id"]
    columns["superseded_at"] = at if standing.status == "superseded" else None
    columns["withdrawn_at"] = at if standing.status == "withdrawn" else None
    return columns


def insert_content(
    connection: sa.Connection, version_id: int, payload: bytes, rows: Iterable[dict[str, Any]]
) -> None:
    """The parsed form and the chunks of a version."""
    insert_contents(connection, [(version_id, payload)], rows)


def insert_contents(
    connection: sa.Connection, payloads: Iterable[tuple[int, bytes]], rows: Iterable[dict[str, Any]]
) -> None:
    """The parsed forms and the chunks of several versions, by their row numbers."""
    values = [{"version_id": number, "payload": payload} for number, payload in payloads]
    connection.execute(_INSERT_ELEMENTS, values)
    insert_chunks(connection, rows)


_INSERT_ELEMENTS = elements.insert()
