"""Check on documents that supersede others (laws 6 and 7 across documents): the old one ends where
the new one takes over, and only there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_store.audit.findings import Finding
from chunkprep_store.audit.standing import stored_versions
from chunkprep_store.audit.stopped import reading
from chunkprep_store.history import VersionRow, versions_of
from chunkprep_store.links import Link, links_onto
from chunkprep_store.succession import ends_by_link, holding
from chunkprep_store.successor import Known, Successor, successor
from chunkprep_store.tables import documents, links, versions


def editions(connection: sa.Connection, collection_id: int, now: Moment) -> Iterator[Finding]:
    """Versions in force although another document that supersedes them is (error), and versions
    that are to end for a document that will not come into force (warning).
    """
    known: Known = {}
    for link in _links(connection, collection_id, known):
        with reading(f"{link.new}, which supersedes {link.old}"):
            if known[link.new_id].stands:
                yield from _beside(connection, link, known[link.new_id])
    yield from _for_nothing(connection, collection_id, now, known)


def _links(connection: sa.Connection, collection_id: int, known: Known) -> Iterator[Link]:
    """The links of a collection, and those that are declared and not stored."""
    stored: dict[str, set[str]] = defaultdict(set)
    owners = sa.select(links.c.old_id).distinct()
    here = documents.c.collection_id == collection_id
    olds = connection.scalars(
        sa.select(documents.c.id).where(here, documents.c.id.in_(owners)).order_by("document")
    ).all()
    for old_id in olds:
        for link in links_onto(connection, old_id):
            with reading(link.new):
                if link.new_id not in known:
                    known[link.new_id] = successor(connection, link.new_id)
            stored[link.new].add(link.old)
            yield link
    yield from _only_declared(connection, collection_id, known, stored)


def _only_declared(
    connection: sa.Connection,
    collection_id: int,
    known: Known,
    stored: dict[str, set[str]],
) -> Iterator[Link]:
    declaring = (
        sa.select(documents.c.id, documents.c.document)
        .join(versions, versions.c.document_id == documents.c.id)
        .where(
            documents.c.collection_id == collection_id,
            versions.c.version == documents.c.current_version,
            versions.c.status.in_(("active", "superseded")),
            versions.c.metadata.not_like('%"supersedes":[]%'),
        )
        .order_by(documents.c.document)
    )
    for number, new in connection.execute(declaring).all():
        with reading(new):
            known[number] = one = known.get(number) or successor(connection, number)
            at = one.current.decided_at if one.current is not None else 0
            declared = one.declared(at)
        for old in sorted(declared - stored[new]):
            there = documents.c.document == old, documents.c.collection_id == collection_id
            old_id = connection.scalar(sa.select(documents.c.id).where(*there))
            if old_id is not None:
                start = one.start(old, None, at)
                yield Link(0, old_id, old, number, new, start, "metadata", None)


def _beside(connection: sa.Connection, link: Link, new: Successor) -> Iterator[Finding]:
    start = new.takes_over(link)
    for row in versions_of(connection, link.old_id):
        if start is not None and _holds_after(row, start):
            yield Finding(
                "effective_ranges",
                "error",
                link.old,
                row.version,
                None,
                f"in force until {iso(row.effective_to) or 'further notice'}, though {link.new} "
                f"supersedes it from {iso(start)} on",
                f"end it there with `chunkprep supersede {link.old} {link.new}`",
            )


def _holds_after(row: VersionRow, at: Moment) -> bool:
    start, end = row.effective_from, row.effective_to
    ever = (end is None or start is None or start < end) and row.status in ("active", "superseded")
    decided = row.closed_by is not None and not ends_by_link(row)
    return ever and not decided and row.pruned_at is None and (end is None or end > at)


def _for_nothing(
    connection: sa.Connection, collection_id: int, now: Moment, known: Known
) -> Iterator[Finding]:
    columns = (versions.c.document_id, versions.c.version, versions.c.closes_at)
    query = stored_versions(collection_id, *columns, versions.c.closed_by).where(
        versions.c.version == documents.c.current_version,
        versions.c.closed_by.like("document:%"),
        versions.c.closes_at > now,
        versions.c.effective_to == versions.c.closes_at,
    )
    for row in connection.execute(query.order_by(documents.c.document)).all():
        onto = holding(connection, row.document_id, known)
        if row.closes_at in {link.effective_from for link in onto}:
            continue
        yield Finding(
            "effective_ranges",
            "warning",
            row.document,
            row.version,
            None,
            f"ends {iso(row.closes_at)} for {row.closed_by.removeprefix('document:')}, which does "
            f"not come into force then",
            f"open it again with `chunkprep restore {row.document}`",
        )
