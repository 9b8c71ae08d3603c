"""What links do: a document ends where one that supersedes it takes over, and stays open where that
one is taken back before its day. Worked out again whenever either of them changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_ingest.replacement import settle
from chunkprep_store.changes import Outbox
from chunkprep_store.history import (
    DocumentRow,
    Held,
    VersionRow,
    apply_standings,
    histories_superseded,
    link_successors,
    lock_documents,
    set_current,
    store_decisions,
    unlink_successors,
    versions_of,
)
from chunkprep_store.links import (
    Link,
    links_from,
    links_onto,
    others_onto,
    put_link,
    remove_link,
)
from chunkprep_store.successor import Known, Successor, successor
from chunkprep_store.tables import documents, versions


class Moved(NamedTuple):
    """A version that ends at another moment (None: open again), as a decision about another
    version, of another document mostly, has it.
    """

    document: str
    version: int
    effective_to: Moment | None

    @property
    def told(self) -> str:
        """The same in words."""
        end = iso(self.effective_to)
        how = "no longer ends" if end is None else f"now ends {end}"
        return f"{self.document} (version {self.version}) {how}"


def holding(connection: sa.Connection, document_id: int, known: Known | None = None) -> list[Link]:
    """The links that end this document, each from when its successor takes over, the earliest
    first. Successors are read into `known`.
    """
    known = {} if known is None else known
    onto = links_onto(connection, document_id)
    for number in {link.new_id for link in onto} - set(known):
        known[number] = successor(connection, number)
    return _holding(onto, known)


def _holding(onto: Iterable[Link], known: Known) -> list[Link]:
    starts = [(link, known[link.new_id].takes_over(link)) for link in onto]
    found = [link._replace(effective_from=at) for link, at in starts if at is not None]
    return sorted(found, key=lambda link: (link.effective_from, link.new))


def ends_by_link(row: VersionRow) -> bool:
    """Whether another document ended the version."""
    return (row.closed_by or "").startswith("document:")


def closed(row: VersionRow, link: Link) -> VersionRow:
    """A version of the old document as the link leaves it."""
    by_link = ends_by_link(row)
    if row.closed_by is not None and not by_link:
        return row  # withdrawn already
    ended = row.effective_to is not None and row.effective_to <= link.effective_from
    if ended and not by_link:
        return row if row.status == "superseded" else row._replace(closed_by=link.closed_by)
    return row._replace(closes_at=link.effective_from, closed_by=link.closed_by)


def close_by_links(
    connection: sa.Connection,
    old: DocumentRow,
    outbox: Outbox,
    reason: str,
    lost: Iterable[Link] = (),
    known: Known | None = None,
) -> list[Moved]:
    """End the versions of a superseded document where its links say; those that links ended which
    hold no more, or are `lost`, are open again.
    """
    before = versions_of(connection, old.id)
    if not before:
        return []  # only its name is known, or its tombstone
    onto = holding(connection, old.id, dict(known or {}))
    enders = {link.closed_by for link in (*links_onto(connection, old.id), *lost)}
    rows = [_reclosed(row, onto, enders) for row in before]
    changed = set(rows) - set(before)
    for row in changed:
        store_decisions(connection, row)
    settled = settle(row.facts for row in rows)
    apply_standings(connection, before, settled, outbox, reason)
    set_current(connection, old.id, current_version=settled.current)
    current = next(row for row in before if row.version == settled.current)
    if changed and onto:
        link_to_document(connection, current.id, onto[0].new_id)
    elif changed:
        unlink_successors(connection, current.id)
    end = settled.of[settled.current].range.end
    if end == current.effective_to:
        return []
    return [Moved(old.document, current.version, end)]


def _reclosed(row: VersionRow, onto: Sequence[Link], enders: set[str]) -> VersionRow:
    """What a link ended that is gone, though it held once, stays ended."""
    if ends_by_link(row):
        if row.closed_by not in enders:
            return row
        if not onto:
            return row._replace(closes_at=None, closed_by=None)
    return closed(row, onto[0]) if onto else row


def link_to_document(connection: sa.Connection, old_version_id: int, new_document_id: int) -> None:
    """Chunk successors across documents: in the version that stands for the new one."""
    stands = sa.and_(
        versions.c.document_id == documents.c.id, versions.c.version == documents.c.current_version
    )
    current = connection.scalar(
        sa.select(versions.c.id).join(documents, stands).where(documents.c.id == new_document_id)
    )
    if current is not None:
        link_successors(connection, old_version_id, current)


def add_link(
    connection: sa.Connection,
    old: DocumentRow,
    new: DocumentRow,
    effective_from: Moment,
    outbox: Outbox,
    origin: str = "metadata",
    reason: str | None = None,
    known: Known | None = None,
) -> list[Moved]:
    """Let `new` supersede `old` from a moment on; a link that is there moves to it.

    Raises MetadataError (bad_metadata) where `old` supersedes `new` already, directly or not.
    """
    put_link(connection, old, new, effective_from, outbox.at, origin, reason)
    reason = reason or f"superseded by {new.document}"
    return close_by_links(connection, old, outbox, reason, known=known)


def follow(
    connection: sa.Connection,
    document: DocumentRow,
    outbox: Outbox,
    declares: Collection[str] | None = None,
) -> list[Moved]:
    """Bring what a document supersedes in line with it, after anything of it has changed: the
    links that its metadata declares, and what they end. `declares`, where that is known, is what
    the changed version declares.

    A link that is no longer declared goes; what it ended until now stays ended until `restore`.
    """
    there = {link.old: link for link in links_from(connection, document.id)}
    if declares is not None and not declares and not there:
        return []
    new = successor(connection, document.id)
    known = {document.id: new}
    wanted = new.declared(outbox.at)
    as_they_are = _ended_already(connection, there.values(), document.id, new)
    moved: list[Moved] = []
    locked = lock_documents(connection, outbox.collection_id, {*wanted, *there}, outbox.at)
    for key, old in locked.items():
        link = there.get(key)
        if link is not None and new.stands and link.origin == "metadata" and key not in wanted:
            moved += lose(connection, old, link, new, outbox)
            continue
        start = new.start(key, link, outbox.at) if new.stands else None
        if start is not None and (link is None or link.effective_from != start):
            moved += add_link(connection, old, document, start, outbox, known=known)
            continue
        if old.id in as_they_are:
            continue
        what = "superseded by" if new.stands else "taken back before its day:"
        reason = f"{what} {document.document}"
        moved += close_by_links(connection, old, outbox, reason, known=known)
    return moved


def _ended_already(
    connection: sa.Connection, there: Iterable[Link], new_id: int, new: Successor
) -> set[int]:
    """Of the documents that one document alone supersedes, those that end as its links say, read
    all at once: an edition may supersede hundreds.
    """
    shared = others_onto(connection, new_id)
    histories = histories_superseded(connection, new_id)
    return {
        link.old_id
        for link in there
        if link.old_id not in shared and _stands_so(histories.get(link.old_id, []), link, new)
    }


def _stands_so(history: Sequence[VersionRow], link: Link, new: Successor) -> bool:
    """Whether a document's versions are as its only link leaves them (or it has none)."""
    onto = _holding([link], {link.new_id: new})
    rows = [_reclosed(row, onto, {link.closed_by}) for row in history]
    if rows != list(history):
        return False
    settled = settle(row.facts for row in rows).of if rows else {}
    return all(settled[row.version][:2] == row.standing[:2] for row in rows)


def lose(
    connection: sa.Connection, old: DocumentRow, link: Link, new: Successor, outbox: Outbox
) -> list[Moved]:
    """Take a link away. Where its document was in force, what it ended stays ended; where its day
    was still to come, the old document is open again.
    """
    start = new.takes_over(link)
    remove_link(connection, link)
    lost = () if start is not None and start <= outbox.at else (link,)
    return close_by_links(connection, old, outbox, f"no longer superseded by {link.new}", lost)


def let_go(connection: sa.Connection, document: DocumentRow, outbox: Outbox) -> list[Moved]:
    """Take away all links by which a document supersedes others: it is to be erased."""
    there = {link.old: link for link in links_from(connection, document.id)}
    locked = lock_documents(connection, outbox.collection_id, there)
    new = successor(connection, document.id)
    moved: list[Moved] = []
    for key, old in locked.items():
        moved += lose(connection, old, there[key], new, outbox)
    return moved


def forget_links_by_hand(connection: sa.Connection, old: DocumentRow) -> None:
    """Take away the links onto an erased document that no other document declares."""
    for link in links_onto(connection, old.id):
        new = successor(connection, link.new_id)
        if link.origin == "hand" and not new.says(link.old):
            remove_link(connection, link)


def forget_taken_back(connection: sa.Connection, document_id: int) -> None:
    """Take away the links of documents that were in force and were taken back: a tombstone that
    is lifted ends for them no more than a document that is restored.
    """
    for link in holding(connection, document_id):
        if not successor(connection, link.new_id).stands:
            remove_link(connection, link)


def release(connection: sa.Connection, held: Held, undo: bool) -> list[Link]:
    """The links that end a document which is to be restored, without those that do so no more:
    of documents that were in force and were taken back, and with `undo`, where it stands as
    superseded, those that were made by hand.

    Raises RequestError where a document declares the supersession that is to be undone.
    """
    undo = undo and ends_by_link(held.current)
    kept = []
    for link in holding(connection, held.document.id):
        new = successor(connection, link.new_id)
        if undo and new.stands and (link.origin == "metadata" or new.says(link.old)):
            raise RequestError(
                f"{link.old} is superseded by {link.new} from {iso(link.effective_from)} on, as "
                f"{link.new} says itself; take `supersedes` out of {link.new} first",
                "document",
            )
        if undo or not new.stands:
            remove_link(connection, link)
        else:
            kept.append(link)
    return kept
