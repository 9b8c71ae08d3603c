"""Check of the change feed: its entries are never removed, so that no cursor is missing."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import changes, collections

_MOST = 20  # gaps that are told one by one


def change_feed(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Cursors that were drawn, and have no entry."""
    last = connection.execute(
        sa.select(collections.c.change_cursor).where(collections.c.id == collection_id)
    ).scalar_one()
    ours = changes.c.collection_id == collection_id
    whole = sa.select(sa.func.count(), sa.func.max(changes.c.cursor)).where(ours)
    count, newest = connection.execute(whole).one()
    if count == last and newest in (last, None):
        return
    for before, after in _gaps(connection, collection_id, last):
        text = f"entries {before + 1} to {after - 1} of the change feed are gone"
        yield finding("change_feed", "error", text)
    if newest is not None and newest > last:
        text = f"the feed goes to {newest}, but only {last} cursors were drawn"
        yield finding("change_feed", "error", text)


def _gaps(connection: sa.Connection, collection_id: int, last: int) -> Iterator[tuple[int, int]]:
    """The entries before and after each gap, or where they would stand."""
    before = sa.func.lag(changes.c.cursor, 1, 0).over(order_by=changes.c.cursor).label("before")
    inner = (
        sa.select(changes.c.cursor, before)
        .where(changes.c.collection_id == collection_id)
        .subquery()
    )
    query = (
        sa.select(inner.c.before, inner.c.cursor)
        .where(inner.c.cursor > inner.c.before + 1)
        .order_by(inner.c.cursor)
        .limit(_MOST)
    )
    yield from (tuple(row) for row in rows(connection, query))
    end = sa.select(sa.func.coalesce(sa.func.max(changes.c.cursor), 0))
    newest = connection.execute(end.where(changes.c.collection_id == collection_id)).scalar_one()
    if newest < last:
        yield newest, last + 1
