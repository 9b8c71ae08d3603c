"""One document that supersedes another: the links between documents, as they are stored."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.errors import MetadataError
from chunkprep_ingest.model import Moment
from chunkprep_store.history import DocumentRow
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


def others_onto(connection: sa.Connection, document_id: int) -> set[int]:
    """The documents, by their row numbers, that this document and another one supersede."""
    other = links.alias("other")
    both = sa.and_(other.c.old_id == links.c.old_id, other.c.new_id != links.c.new_id)
    shared = sa.select(links.c.old_id).join(other, both).where(links.c.new_id == document_id)
    return set(connection.scalars(shared))


def lock_links(connection: sa.Connection, collection_id: int) -> None:
    """One writer of links at a time in a collection: two could close a cycle unseen."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(_LINK_LOCK, collection_id % (1 << 31)))
        )


_LINK_LOCK = 0x6C696E6B  # "link"


def remove_link(connection: sa.Connection, link: Link) -> None:
    """Take a link away; what it ended is for the caller."""
    connection.execute(links.delete().where(links.c.id == link.id))


def put_link(
    connection: sa.Connection,
    old: DocumentRow,
    new: DocumentRow,
    effective_from: Moment,
    at: Moment,
    origin: str = "metadata",
    reason: str | None = None,
) -> None:
    """Note that `new` supersedes `old` from a moment on; a link that is there moves to it.

    Raises MetadataError (bad_metadata) where `old` supersedes `new` already, directly or not.
    """
    _refuse_cycle(connection, old, new)
    values = {"effective_from": effective_from, "decided_at": at}
    moved = connection.execute(
        links.update().where(links.c.old_id == old.id, links.c.new_id == new.id).values(**values)
    )
    if not moved.rowcount:
        row = {**values, "old_id": old.id, "new_id": new.id, "origin": origin, "reason": reason}
        connection.execute(links.insert(), row)


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
