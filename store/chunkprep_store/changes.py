"""The change feed: an outbox that a vector index follows.

A transaction notes its changes and draws their cursors as its last statement, by an update of
the collection's row: whoever draws next waits until this transaction has ended, so cursors stand
in commit order, without gaps or repeats. Texts are joined on reading. A date that passes makes
no entry: entries carry the range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import EffectiveRange
from chunkprep_ingest.model import Moment
from chunkprep_ingest.replacement import Standing
from chunkprep_store.tables import changes, chunks, collections

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


@dataclass(slots=True)
class Outbox:
    """The changes of one transaction, by version: upserts first, so that an index that stops
    half-way has too much rather than too little.
    """

    collection_id: int
    at: Moment
    upserts: dict[int, int] = field(default_factory=dict)
    removals: dict[int, int] = field(default_factory=dict)

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

    def upsert(self, version_id: int, count: int) -> None:
        """Note that a version's chunks are to be taken over anew."""
        self.upserts[version_id] = count

    def remove(self, version_id: int, count: int) -> None:
        """Note that a version's chunks are gone."""
        self.removals[version_id] = count

    def send(self, connection: sa.Connection) -> None:
        """Write the entries: the last statements of the transaction."""
        entries: list[tuple[Action, int, int]] = [
            *(("upsert", v, n) for v, n in self.upserts.items() if n),
            *(("remove", v, n) for v, n in self.removals.items() if n),
        ]
        if not entries:
            return
        total = sum(count for _, _, count in entries)
        last = connection.execute(
            _DRAW, {"entries": total, "collection": self.collection_id}
        ).scalar_one()
        base = last - total + 1
        for action, version_id, count in entries:
            values = {"base": base, "moment": self.at, "act": action, "owner": version_id}
            connection.execute(_SEND, values)
            base += count


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
