"""Ingest runs, and the documents that could not be ingested."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.model import Moment
from chunkprep_store.tables import failures, runs


@dataclass(frozen=True, slots=True)
class Run:
    """One run; `summary` is None while it is under way, or where it was killed. `flow_run_id` is
    Prefect's, where its flow ran.
    """

    run_id: str
    kind: str
    started_at: Moment
    finished_at: Moment | None
    settings: dict[str, Any]
    summary: dict[str, Any] | None
    flow_run_id: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A document whose last attempt failed; `attempts` counts those with the same key. The run, and
    Prefect's flow run, are those of the last one.
    """

    document: str
    uri: str
    code: str
    message: str
    remedy: str
    attempt_key: str | None
    attempts: int
    first_at: Moment
    last_at: Moment
    run_id: str | None
    flow_run_id: str | None


def start_run(
    connection: sa.Connection,
    collection_id: int,
    kind: str,
    now: Moment,
    settings: Mapping[str, object],
    run_id: str | None,
    flow_run_id: str | None,
) -> str:
    """Record that a run began; returns its id."""
    key = run_id or uuid4().hex
    connection.execute(
        runs.insert(),
        {
            "run_id": key,
            "collection_id": collection_id,
            "kind": kind,
            "started_at": now,
            "settings": json.dumps(settings, sort_keys=True, default=str),
            "flow_run_id": flow_run_id,
        },
    )
    return key


def finish_run(
    connection: sa.Connection,
    run_id: str,
    now: Moment,
    summary: Mapping[str, object],
    *,
    once: bool,
) -> None:
    """Record how a run ended; with `once` only where nothing is recorded of that yet. Raises
    NotFoundError for an unknown run.
    """
    ended = {"finished_at": now, "summary": json.dumps(summary, sort_keys=True, default=str)}
    if once:
        ended = {name: sa.func.coalesce(runs.c[name], value) for name, value in ended.items()}
    done = connection.execute(runs.update().where(runs.c.run_id == run_id).values(**ended))
    if not done.rowcount:
        raise NotFoundError(f"run {run_id!r} is not in this store")


def count_runs(connection: sa.Connection, collection_id: int) -> int:
    """How many runs are recorded."""
    counted = sa.select(sa.func.count()).select_from(runs)
    return int(connection.scalar(counted.where(runs.c.collection_id == collection_id)) or 0)


def list_runs(
    connection: sa.Connection, collection_id: int, limit: int, first: int = 0
) -> list[Run]:
    """The latest runs from the `first` on, the newest first."""
    rows = connection.execute(
        sa.select(runs)
        .where(runs.c.collection_id == collection_id)
        .order_by(runs.c.started_at.desc(), runs.c.run_id)
        .limit(limit)
        .offset(first)
    )
    return [
        Run(
            run_id=row.run_id,
            kind=row.kind,
            started_at=row.started_at,
            finished_at=row.finished_at,
            settings=orjson.loads(row.settings),
            summary=None if row.summary is None else orjson.loads(row.summary),
            flow_run_id=row.flow_run_id,
        )
        for row in rows
    ]


def record_failure(
    connection: sa.Connection,
    collection_id: int,
    document: str,
    *,
    uri: str,
    code: str,
    message: str,
    remedy: str,
    attempt_key: str | None,
    now: Moment,
    run_id: str | None,
) -> int:
    """Record that a document failed; returns how often the attempt with this key did."""
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    values = {
        "uri": uri,
        "code": code,
        "message": message,
        "remedy": remedy,
        "attempt_key": attempt_key,
        "last_at": now,
        "run_id": run_id,
    }
    statement = make(failures).values(
        **values, collection_id=collection_id, document=document, attempts=1, first_at=now
    )
    same = failures.c.attempt_key.is_not_distinct_from(attempt_key)
    upsert = statement.on_conflict_do_update(
        index_elements=["collection_id", "document"],
        set_={
            **values,
            "attempts": sa.case((same, failures.c.attempts + 1), else_=1),
            "first_at": sa.case((same, failures.c.first_at), else_=now),
        },
    )
    return int(connection.execute(upsert.returning(failures.c.attempts)).scalar_one())


def list_failures(connection: sa.Connection, collection_id: int) -> list[Failure]:
    """The documents whose last attempt failed, in order of the key."""
    own = [failures.c[name] for name in Failure.__slots__ if name in failures.c]
    rows = connection.execute(
        sa.select(*own, runs.c.flow_run_id)
        .outerjoin(runs, runs.c.run_id == failures.c.run_id)
        .where(failures.c.collection_id == collection_id)
        .order_by(failures.c.document)
    )
    return [Failure(*row) for row in rows]


def forget_failure(connection: sa.Connection, collection_id: int, document: str) -> None:
    """Drop a failure: the source is gone, or was ingested."""
    forget_failures(connection, collection_id, [document])


def forget_failures(connection: sa.Connection, collection_id: int, keys: Iterable[str]) -> None:
    """Drop the failures of these documents, at least one."""
    connection.execute(_FORGET, [{"owner": collection_id, "key": key} for key in keys])


_FORGET = failures.delete().where(
    failures.c.collection_id == sa.bindparam("owner"), failures.c.document == sa.bindparam("key")
)
