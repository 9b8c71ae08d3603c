"""The change feed: an outbox that a vector index follows.

A transaction notes its changes and draws their cursors as its last statement, by an update of
the collection's row: whoever draws next waits until this transaction has ended, so cursors stand
in commit order, without gaps or repeats. Texts are joined on reading. A date that passes makes
no entry: entries carry the range.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import EffectiveRange
from chunkprep_ingest.model import Moment
from chunkprep_ingest.replacement import Standing
from chunkprep_store.tables import changes, chunks, collections, versions

Action = Literal["upsert", "remove"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry. A removal carries only what names the chunk."""

    cursor: int
    at: Moment
    action: Action
    chunk_id: str
    document: str
    version: int
    ordinal: int | None = None
    text: str | None = None
    header: str | None = None
    content_hash: str | None = None
    status: str | None = None
    effective_from: Moment | None = None
    effective_to: Moment | None = None
    heading_path: str | None = None
    authority: int | None = None
    access: str | None = None
    source: str | None = None
    tags: str | None = None
    kind: str | None = None
    page: int | None = None
    title: str | None = None
    metadata: str | None = None
    """JSON of all that is known about the version; moments in microseconds UTC."""


@dataclass(slots=True)
class Outbox:
    """The changes of one transaction, by version: upserts first, so that an index that stops
    half-way has too much rather than too little.
    """

    collection_id: int
    at: Moment
    upserts: dict[int, int] = field(default_factory=dict)
    removals: dict[int, int] = field(default_factory=dict)
    gone: list[tuple[str, str, int]] = field(default_factory=list)

    def note(
        self, version_id: int, count: int, before: Standing | None, after: Standing | None
    ) -> None:
        """Note what a version's new standing means for an index; `count` is its chunks."""
        had, has = _wanted(before, self.at), _wanted(after, self.at)
        if has:
            self.upserts[version_id] = count
        elif had:
            self.upserts.pop(version_id, None)
            self.removals[version_id] = count

    def remove_rows(self, rows: Iterable[tuple[str, str, int]]) -> None:
        """Note chunks (id, document, version) whose rows this transaction deletes."""
        self.gone += rows

    def send(self, connection: sa.Connection) -> None:
        """Write the entries: the last statements of the transaction."""
        entries: list[tuple[Action, int, int]] = [
            *(("upsert", v, n) for v, n in self.upserts.items() if n),
            *(("remove", v, n) for v, n in self.removals.items() if n),
        ]
        total = sum(count for _, _, count in entries) + len(self.gone)
        if not total:
            return
        draw = {"entries": total, "collection": self.collection_id}
        base = connection.execute(_DRAW, draw).scalar_one() - total + 1
        sent = []
        for action, version_id, count in entries:
            sent.append({"base": base, "moment": self.at, "act": action, "owner": version_id})
            base += count
        if sent:
            connection.execute(_SEND, sent)
        if self.gone:
            connection.execute(changes.insert(), self._gone_rows(base))

    def _gone_rows(self, base: int) -> list[dict[str, Any]]:
        return [
            {
                "collection_id": self.collection_id,
                "cursor": base + number,
                "at": self.at,
                "action": "remove",
                "chunk_id": chunk_id,
                "document": document,
                "version": version,
            }
            for number, (chunk_id, document, version) in enumerate(self.gone)
        ]


def _wanted(standing: Standing | None, at: Moment) -> bool:
    """Whether an index should hold the version's chunks: in force now or later."""
    if standing is None or standing.status == "draft":
        return False
    span: EffectiveRange = standing.range
    if span.end is None:
        return True
    return span.end > at and (span.start is None or span.start < span.end)


_DRAW = (
    collections.update()
    .where(collections.c.id == sa.bindparam("collection", type_=sa.BigInteger))
    .values(
        change_cursor=collections.c.change_cursor + sa.bindparam("entries", type_=sa.BigInteger)
    )
    .returning(collections.c.change_cursor)
)

_SEND = changes.insert().from_select(
    ["collection_id", "cursor", "at", "action", "chunk_id", "document", "version"],
    sa.select(
        chunks.c.collection_id,
        sa.bindparam("base", type_=sa.BigInteger) + chunks.c.ordinal,
        sa.bindparam("moment", type_=sa.BigInteger),
        sa.bindparam("act", type_=sa.Text),
        chunks.c.chunk_id,
        chunks.c.document,
        chunks.c.version,
    ).where(chunks.c.version_id == sa.bindparam("owner", type_=sa.BigInteger)),
)


_JOINED = (
    "ordinal",
    "text",
    "header",
    "content_hash",
    "status",
    "effective_from",
    "effective_to",
    "heading_path",
    "authority",
    "access",
    "source",
    "tags",
    "kind",
    "page",
)
_OF_VERSION = (versions.c.title, versions.c.metadata)


def read_changes(
    connection: sa.Connection, collection_id: int, since: int, limit: int
) -> list[Change]:
    """Entries after the cursor `since` (0: from the beginning), at most `limit`, in commit order.

    An upsert carries the chunk as it is now; where the chunk is gone since, it is a removal.
    """
    there = chunks.c.chunk_id.is_not(None).label("there")
    query = (
        sa.select(changes, there, *(chunks.c[name] for name in _JOINED), *_OF_VERSION)
        .select_from(
            changes.outerjoin(chunks, chunks.c.chunk_id == changes.c.chunk_id).outerjoin(
                versions, versions.c.id == chunks.c.version_id
            )
        )
        .where(changes.c.collection_id == collection_id, changes.c.cursor > since)
        .order_by(changes.c.cursor)
        .limit(limit)
    )
    return [_change(row) for row in connection.execute(query)]


def _change(row: sa.Row[Any]) -> Change:
    named = (row.chunk_id, row.document, row.version)
    if row.action == "remove" or not row.there:
        return Change(row.cursor, row.at, "remove", *named)
    fields = {name: getattr(row, name) for name in (*_JOINED, "title", "metadata")}
    return Change(row.cursor, row.at, "upsert", *named, **fields)
