"""Prune: the content of versions that ended long ago, and old pack logs, make room.

A version's own row stays (numbers, dates, reasons), so that ids stay deterministic and the
history can still be told.
"""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import OperationalError
from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.changes import Outbox
from chunkprep_store.engine import Database
from chunkprep_store.tables import chunks, documents, elements, pack_chunks, packs, versions


class Pruned(NamedTuple):
    """What was removed. `kept` versions had ended, but logged packs still need them, or it was told
    to stop.
    """

    versions: int
    chunks: int
    packs: int
    kept: int


_BATCH = 100
_PACKS = 1000
_STEPS = 10_000
"""Of SQLite's machine, between two looks whether a stop is asked for."""


def prune(
    database: Database,
    collection_id: int,
    *,
    ended_before: Moment,
    packs_before: Moment | None,
    with_packs: bool,
    now: Moment,
    stop_asked: Callable[[], bool],
) -> Pruned:
    """Remove versions that ended before a moment, in short transactions, until `stop_asked`.

    Those that logged packs used stay, for replay, unless `with_packs`. Packs logged before
    `packs_before` go first.
    """
    gone = 0
    while packs_before is not None and not stop_asked():
        some = database.retry(lambda c: _prune_packs(c, collection_id, packs_before))
        gone += some
        if not some:
            break
    done = rows = 0
    while not stop_asked():
        removed = database.retry(
            lambda c: _prune_versions(c, collection_id, ended_before, with_packs, now)
        )
        if removed is None:
            break
        done += removed[0]
        rows += removed[1]
    with database.snapshot() as connection:
        kept = sa.select(sa.func.count()).select_from(
            _ended(collection_id, ended_before).subquery()
        )
        still = connection.execute(kept).scalar() or 0
    return Pruned(done, rows, gone, still)


def prunable(
    connection: sa.Connection,
    collection_id: int,
    *,
    ended_before: Moment,
    packs_before: Moment | None,
    with_packs: bool,
) -> Pruned:
    """What `prune` would remove, and what it would keep."""
    old = sa.false() if packs_before is None else _logged_before(collection_id, packs_before)
    ended = _ended(collection_id, ended_before)
    free = ended if with_packs else ended.where(~_used(sa.not_(old)))
    found = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(versions.c.chunks), 0)).where(
        versions.c.id.in_(free.order_by(None))
    )
    number, rows = connection.execute(found).one()
    every = connection.scalar(sa.select(sa.func.count()).select_from(ended.subquery())) or 0
    gone = connection.scalar(sa.select(sa.func.count()).select_from(packs).where(old)) or 0
    return Pruned(number, int(rows), gone, every - number)


def _logged_before(collection_id: int, before: Moment) -> sa.ColumnElement[bool]:
    return sa.and_(packs.c.collection_id == collection_id, packs.c.at < before)


def _used(by: sa.ColumnElement[bool]) -> sa.Exists:
    """Whether a logged pack of some kind used the version."""
    return sa.exists().where(
        pack_chunks.c.version_id == versions.c.id, packs.c.id == pack_chunks.c.pack_id, by
    )


def _prune_packs(connection: sa.Connection, collection_id: int, before: Moment) -> int:
    """Remove some packs of those logged before a moment; how many."""
    old = sa.select(packs.c.id).where(_logged_before(collection_id, before)).limit(_PACKS)
    return connection.execute(packs.delete().where(packs.c.id.in_(old))).rowcount


def _ended(collection_id: int, before: Moment) -> sa.Select[int]:
    """Versions out of force for good: superseded or withdrawn, and ended before the moment."""
    return (
        sa.select(versions.c.id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(
            documents.c.collection_id == collection_id,
            versions.c.pruned_at.is_(None),
            versions.c.status.in_(("superseded", "withdrawn")),
            versions.c.effective_to < before,
            versions.c.changed_at < before,
        )
        .order_by(versions.c.id)
    )


def _prune_versions(
    connection: sa.Connection,
    collection_id: int,
    before: Moment,
    with_packs: bool,
    now: Moment,
) -> tuple[int, int] | None:
    query = _ended(collection_id, before).limit(_BATCH).with_for_update(of=versions)
    if not with_packs:
        query = query.where(~_used(sa.true()))
    ids = list(connection.scalars(query))
    if not ids:
        return None
    outbox = Outbox(collection_id, now)
    count = remove_content(connection, ids, outbox)
    connection.execute(versions.update().where(versions.c.id.in_(ids)).values(pruned_at=now))
    outbox.send(connection)
    return len(ids), count


def remove_content(connection: sa.Connection, version_ids: list[int], outbox: Outbox) -> int:
    """Delete chunks and elements of versions; chains of successors close over the gap.

    The text index and further prices follow by trigger and cascade. Returns the chunks removed.
    """
    owned = chunks.c.version_id.in_(version_ids)
    found = connection.execute(
        sa.select(chunks.c.chunk_id, chunks.c.document, chunks.c.version, chunks.c.superseded_by)
        .where(owned)
        .order_by(chunks.c.version_id, chunks.c.ordinal)
    ).all()
    _close_gap(connection, {row.chunk_id: row.superseded_by for row in found})
    outbox.remove_rows((row.chunk_id, row.document, row.version) for row in found)
    connection.execute(chunks.delete().where(owned))
    connection.execute(elements.delete().where(elements.c.version_id.in_(version_ids)))
    return len(found)


def _close_gap(connection: sa.Connection, successor: dict[str, str | None]) -> None:
    """Let chunks that pointed to removed ones point to what those pointed to."""
    ids = list(successor)
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        pointing = connection.execute(
            sa.select(chunks.c.chunk_id, chunks.c.superseded_by).where(
                chunks.c.superseded_by.in_(some), chunks.c.chunk_id.not_in(some)
            )
        ).all()
        moved = [
            {"key": row.chunk_id, "target": _beyond(row.superseded_by, successor)}
            for row in pointing
            if row.chunk_id not in successor
        ]
        if moved:
            connection.execute(_MOVE, moved)


def _beyond(chunk_id: str | None, removed: dict[str, str | None]) -> str | None:
    seen = set()
    while chunk_id in removed and chunk_id not in seen:
        seen.add(chunk_id)
        chunk_id = removed[chunk_id]
    return None if chunk_id in removed else chunk_id


_MOVE = (
    chunks.update()
    .where(chunks.c.chunk_id == sa.bindparam("key"))
    .values(superseded_by=sa.bindparam("target"))
)


def vacuum(database: Database, stop_asked: Callable[[], bool]) -> bool:
    """Give the freed room back, and leave no deleted text behind in the text index; whether that
    was done before `stop_asked`.
    """
    database.process.require()
    if database.dialect == "sqlite":
        return _vacuum_sqlite(database, stop_asked)
    autocommit = database.engine.execution_options(isolation_level="AUTOCOMMIT")
    with autocommit.connect() as connection:
        for table in _BULKY:
            if stop_asked():
                return False
            connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
    return True


def _vacuum_sqlite(database: Database, stop_asked: Callable[[], bool]) -> bool:
    raw = database.engine.raw_connection()
    driver: Any = raw.driver_connection
    driver.set_progress_handler(stop_asked, _STEPS)  # true: SQLite undoes the statement
    try:
        for statement in _SQLITE_VACUUM:
            if stop_asked():
                return False
            driver.execute(statement).fetchall()
    except OperationalError:
        if not stop_asked():
            raise
        return False
    finally:
        driver.set_progress_handler(None, 0)
        raw.close()
    return True


_SQLITE_VACUUM = (
    "INSERT INTO chunk_search(chunk_search) VALUES ('optimize')",
    "VACUUM",
    "PRAGMA wal_checkpoint(TRUNCATE)",
)

_BULKY = (
    "chunks",
    "chunk_search",
    "elements",
    "chunk_prices",
    "versions",
    "metadata_history",
    "changes",
    "packs",
    "pack_chunks",
)
