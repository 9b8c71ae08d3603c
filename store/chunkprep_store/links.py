"""One document that supersedes another: links, applied when both are here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.errors import MetadataError
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment
from chunkprep_ingest.replacement import settle
from chunkprep_store.changes import Outbox
from chunkprep_store.history import (
    DocumentRow,
    VersionRow,
    apply_standings,
    change_version,
    link_successors,
    versions_of,
)
from chunkprep_store.tables import documents, links


class Link(NamedTuple):
    """`new` supersedes `old` from a moment on."""

    id: int
    old_id: int
    old: str
    new_id: int
    new: str
    effective_from: Moment
    origin: str
    reason: str | None

    @property
    def closed_by(self) -> str:
        """What a version ended by this link says."""
        return f"document:{self.new}"


_OLD, _NEW = documents.alias("old"), documents.alias("new")
_LINKS = (
    sa.select(
        links.c.id,
        links.c.old_id,
        _OLD.c.document.label("old"),
        links.c.new_id,
        _NEW.c.document.label("new"),
        links.c.effective_from,
        links.c.origin,
        links.c.reason,
    )
    .join(_OLD, _OLD.c.id == links.c.old_id)
    .join(_NEW, _NEW.c.id == links.c.new_id)
)


_ONTO = _LINKS.where(links.c.old_id == sa.bindparam("owner")).order_by(links.c.effective_from)
_FROM = _LINKS.where(links.c.new_id == sa.bindparam("owner")).order_by(_OLD.c.document)


def links_onto(connection: sa.Connection, document_id: int) -> list[Link]:
    """The links that supersede this document, the earliest first."""
    return [Link._make(row) for row in connection.execute(_ONTO, {"owner": document_id})]


def links_from(connection: sa.Connection, document_id: int) -> list[Link]:
    """The links by which this document supersedes others."""
    return [Link._make(row) for row in connection.execute(_FROM, {"owner": document_id})]


def lock_links(connection: sa.Connection, collection_id: int) -> None:
    """One writer of links at a time in a collection: two could close a cycle unseen."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(_LINK_LOCK, collection_id % (1 << 31)))
        )


_LINK_LOCK = 0x6C696E6B  # "link"


def follow_metadata(
    connection: sa.Connection,
    document: DocumentRow,
    metadata: Metadata,
    locked: Mapping[str, DocumentRow],
    outbox: Outbox,
) -> None:
    """Bring the links that a document's `supersedes` declares in line with its metadata.

    A link that is no longer declared goes, but what it ended stays ended until `restore`.
    """
    there = {link.old: link for link in links_from(connection, document.id)}
    wanted = set(metadata.supersedes) if metadata.status == "active" else set()
    for key, link in there.items():
        if link.origin == "metadata" and key not in wanted:
            connection.execute(links.delete().where(links.c.id == link.id))
        elif metadata.valid_from is not None and link.effective_from != metadata.valid_from:
            add_link(connection, locked[key], document, metadata.valid_from, outbox)
    for key in sorted(wanted - set(there)):
        start = metadata.valid_from if metadata.valid_from is not None else outbox.at
        add_link(connection, locked[key], document, start, outbox)


def add_link(
    connection: sa.Connection,
    old: DocumentRow,
    new: DocumentRow,
    effective_from: Moment,
    outbox: Outbox,
    origin: str = "metadata",
    reason: str | None = None,
) -> None:
    """Let `new` supersede `old` from a moment on; a link that is there moves to it.

    Raises MetadataError (bad_metadata) where `old` supersedes `new` already, directly or not.
    """
    _refuse_cycle(connection, old, new)
    values = {"effective_from": effective_from, "decided_at": outbox.at}
    moved = connection.execute(
        links.update().where(links.c.old_id == old.id, links.c.new_id == new.id).values(**values)
    )
    if not moved.rowcount:
        row = {**values, "old_id": old.id, "new_id": new.id, "origin": origin, "reason": reason}
        connection.execute(links.insert(), row)
    if old.last_version:
        why = reason or f"superseded by {new.document}"
        close_by_links(connection, old, outbox, why)


def close_by_links(
    connection: sa.Connection, old: DocumentRow, outbox: Outbox, reason: str
) -> None:
    """End the versions of a superseded document where its links say."""
    onto = links_onto(connection, old.id)
    if not onto:
        return
    before = versions_of(connection, old.id)
    rows = [closed(row, onto[0]) for row in before]
    for row in set(rows) - set(before):
        change_version(connection, row.id, closes_at=row.closes_at, closed_by=row.closed_by)
    settled = settle(row.facts for row in rows)
    apply_standings(connection, rows, settled, outbox, reason)
    by_number = {row.version: row for row in rows}
    link_to_document(connection, by_number[settled.current].id, onto[0].new_id)


def closed(row: VersionRow, link: Link) -> VersionRow:
    """A version of the old document as the link leaves it."""
    by_link = (row.closed_by or "").startswith("document:")
    if row.closed_by is not None and not by_link:
        return row  # withdrawn already
    ended = row.effective_to is not None and row.effective_to <= link.effective_from
    if ended and not by_link:
        return row if row.status == "superseded" else row._replace(closed_by=link.closed_by)
    return row._replace(closes_at=link.effective_from, closed_by=link.closed_by)


def link_to_document(connection: sa.Connection, old_version_id: int, new_document_id: int) -> None:
    """Chunk successors across documents: in the version that stands for the new one."""
    rows = versions_of(connection, new_document_id)
    current = connection.execute(
        sa.select(documents.c.current_version).where(documents.c.id == new_document_id)
    ).scalar()
    for row in rows:
        if row.version == current:
            link_successors(connection, old_version_id, row.id)


def _refuse_cycle(connection: sa.Connection, old: DocumentRow, new: DocumentRow) -> None:
    reached = sa.select(sa.literal(old.id, sa.BigInteger).label("id")).cte(
        "reached", recursive=True
    )
    reached = reached.union(sa.select(links.c.old_id).where(links.c.new_id == reached.c.id))
    found = connection.execute(sa.select(reached.c.id).where(reached.c.id == new.id)).first()
    if found is not None:
        raise MetadataError(
            "bad_metadata",
            f"{new.document} cannot supersede {old.document}: {old.document} supersedes "
            f"{new.document} already, directly or through others",
        )
