"""Decisions by hand (and by `--sync`): supersede, withdraw, restore, set metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import Moment, Status
from chunkprep_ingest.replacement import settle
from chunkprep_store.changes import Outbox
from chunkprep_store.documents import not_found
from chunkprep_store.history import (
    Held,
    VersionRow,
    apply_standings,
    change_version,
    hold,
    lock_documents,
    store_decisions,
    versions_of,
)
from chunkprep_store.links import lock_links
from chunkprep_store.succession import Moved, add_link, follow
from chunkprep_store.successor import successor

By = Literal["hand", "sync"]


class Decided(NamedTuple):
    """What a decision made of a document: the version that stands for it now, the document that
    supersedes it from `effective_to` on, if one does, and what else ends at another moment now.
    """

    document: str
    version: int
    status: Status
    effective_from: Moment | None
    effective_to: Moment | None
    superseded_by: str | None = None
    moved: tuple[Moved, ...] = ()


def decided(
    connection: sa.Connection, collection_id: int, key: str, moved: Iterable[Moved] = ()
) -> Decided:
    """How a document stands now."""
    row = hold(connection, collection_id, key).current
    kind, _, by = (row.closed_by or "").partition(":")
    successor = by if kind == "document" else None
    span = row.effective_from, row.effective_to
    return Decided(key, row.version, row.status, *span, successor, tuple(moved))


def supersede(
    connection: sa.Connection,
    collection_id: int,
    old: str,
    new: str,
    now: Moment,
    reason: str | None,
) -> Decided:
    """Let document `new` supersede `old`: from the date its version in force is valid from, where
    it names one, else from now.

    Raises NotFoundError, MetadataError for a cycle, RequestError where `new` is not released.
    """
    if old == new:
        raise RequestError(f"{old} cannot supersede itself; name two documents", "new")
    lock_links(connection, collection_id)
    locked = lock_documents(connection, collection_id, [old, new])
    for key in (old, new):
        if key not in locked or locked[key].current_version is None:
            raise not_found(key)
    current = Held(locked[new], versions_of(connection, locked[new].id)).current
    if current.status not in ("active", "superseded"):
        raise RequestError(f"{new} is {current.status}; release or restore it first", "new")
    start = current.valid_from if current.valid_from is not None else now
    outbox = Outbox(collection_id, now)
    declared = successor(connection, locked[new].id).says(old)
    origin = "metadata" if declared else "hand"
    add_link(connection, locked[old], locked[new], start, outbox, origin, reason)
    outbox.send(connection)
    return decided(connection, collection_id, old)


def withdraw(
    connection: sa.Connection,
    collection_id: int,
    key: str,
    now: Moment,
    reason: str | None,
    by: By,
) -> Decided:
    """Take a document out of force from now on, with every version still to end.

    `by` "sync": seen again, it revives; "hand": it stays until `restore`.
    """
    lock_links(connection, collection_id)
    held = hold(connection, collection_id, key)
    current = held.current
    if current.status == "withdrawn":
        if by == "hand":
            change_version(connection, current.id, closed_by="hand")
        return decided(connection, collection_id, key)
    outbox = Outbox(collection_id, max(now, current.released_at or now))
    after = [_withdrawn(row, row.id == current.id, outbox.at, by) for row in held.history]
    for row in set(after) - set(held.history):
        store_decisions(connection, row)
    settled = settle(row.facts for row in after)
    apply_standings(connection, held.history, settled, outbox, reason)
    moved = follow(connection, held.document, outbox)
    outbox.send(connection)
    return decided(connection, collection_id, key, moved)


def _withdrawn(row: VersionRow, current: bool, at: Moment, by: By) -> VersionRow:
    ended = row.effective_to is not None and row.effective_to <= at
    if row.released_at is None and not current:
        return row
    if current:
        row = row._replace(status="withdrawn", closed_by=by, released_at=row.released_at or at)
    elif ended:
        return row
    return row._replace(
        closes_at=at if row.closes_at is None else min(at, row.closes_at), closed_by=by
    )
