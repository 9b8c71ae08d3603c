"""A document's rows under lock, and its versions' standings brought up to date together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import EffectiveRange
from chunkprep_ingest.model import Moment, Status
from chunkprep_ingest.replacement import Standing, Standings, VersionFacts
from chunkprep_ingest.successors import Place, match_successors
from chunkprep_store.changes import Outbox
from chunkprep_store.collection import insert_if_absent
from chunkprep_store.documents import not_found
from chunkprep_store.rows import standing_columns
from chunkprep_store.tables import chunks, documents, links, metadata_history, versions

RECUT = "recut"
"""`origin` of a version made of another one's text: "recut:" and its number."""
DRAFTED = "draft"
"""`closed_by` of a version that became a draft again after it was released."""


class DocumentRow(NamedTuple):
    """A document under lock; `last_version` 0 says that only its name is known yet."""

    id: int
    document: str
    last_version: int
    current_version: int | None
    erased_at: Moment | None


class VersionRow(NamedTuple):
    """The columns of a version that decisions need."""

    id: int
    document_id: int
    version: int
    status: Status
    origin: str
    bytes_hash: str
    content_hash: str
    inputs: str
    reader: str
    policy: str
    profile: str
    source_metadata: str
    overrides: str
    metadata: str
    uri: str
    etag: str | None
    edition: str | None
    valid_from: Moment | None
    valid_to: Moment | None
    stored_at: Moment
    released_at: Moment | None
    closes_at: Moment | None
    closed_by: str | None
    effective_from: Moment | None
    effective_to: Moment | None
    chunks: int
    pruned_at: Moment | None

    @property
    def standing(self) -> Standing:
        """As stored; the successor is not."""
        return Standing(self.status, EffectiveRange(self.effective_from, self.effective_to), None)

    @property
    def facts(self) -> VersionFacts:
        """What its standing follows from."""
        return VersionFacts(
            version=self.version,
            released_at=self.released_at,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            edition=self.edition,
            closes_at=self.closes_at,
            withdrawn=self.status == "withdrawn",
            superseded_elsewhere=(self.closed_by or "").startswith("document:"),
            restored=self.origin == "restore",
            drafted=self.closed_by == DRAFTED,
            recut_of=self.recut_of,
            recut_at=self.stored_at,
        )

    @property
    def recut_of(self) -> int | None:
        """The version whose text this one holds in other chunks."""
        kind, _, number = self.origin.partition(":")
        return int(number) if kind == RECUT else None

    @property
    def decided_at(self) -> Moment:
        """The latest moment that its place among the versions goes by."""
        return max(self.stored_at, self.released_at or self.stored_at)


class Held(NamedTuple):
    """A document under lock, with its versions; there is at least one."""

    document: DocumentRow
    history: list[VersionRow]

    @property
    def current(self) -> VersionRow:
        """The version that stands for the document."""
        number = self.document.current_version
        return next(row for row in self.history if row.version == number)


_DOCUMENT_COLUMNS = [documents.c[name] for name in DocumentRow._fields]
_VERSIONS = (
    sa.select(*(versions.c[name] for name in VersionRow._fields))
    .where(versions.c.document_id == sa.bindparam("owner"))
    .order_by(versions.c.version)
)


def lock_documents(
    connection: sa.Connection, collection_id: int, keys: Iterable[str], now: Moment | None = None
) -> dict[str, DocumentRow]:
    """Lock the documents' rows, in order of their keys, until the transaction ends.

    With `now`, a document that is not here yet gets its row (its name is known from then on).
    """
    names = sorted(set(keys))
    found = _locked(connection, collection_id, names)
    missing = [name for name in names if name not in found]
    if missing and now is not None:
        insert_if_absent(
            connection,
            documents,
            [{"collection_id": collection_id, "document": n, "created_at": now} for n in missing],
        )
        found = _locked(connection, collection_id, names)
    return found


def _locked(
    connection: sa.Connection, collection_id: int, names: Sequence[str]
) -> dict[str, DocumentRow]:
    rows = connection.execute(
        sa.select(*_DOCUMENT_COLUMNS)
        .where(documents.c.collection_id == collection_id, documents.c.document.in_(names))
        .order_by(documents.c.document)
        .with_for_update(key_share=True)
    )
    return {row.document: DocumentRow._make(row) for row in rows}


def versions_of(connection: sa.Connection, document_id: int) -> list[VersionRow]:
    """Every version of a document, in order of its number."""
    return [VersionRow._make(r) for r in connection.execute(_VERSIONS, {"owner": document_id})]


def histories_superseded(
    connection: sa.Connection, document_id: int
) -> dict[int, list[VersionRow]]:
    """The versions of all documents to which a document links as superseded, by their numbers."""
    query = (
        sa.select(*(versions.c[name] for name in VersionRow._fields))
        .join(links, links.c.old_id == versions.c.document_id)
        .where(links.c.new_id == document_id)
        .order_by(versions.c.document_id, versions.c.version)
    )
    found = map(VersionRow._make, connection.execute(query))
    return {owner: list(rows) for owner, rows in groupby(found, attrgetter("document_id"))}


def hold(connection: sa.Connection, collection_id: int, key: str) -> Held:
    """Lock a document. Raises NotFoundError where it is not here (or was erased)."""
    document = lock_documents(connection, collection_id, [key]).get(key)
    if document is None or document.current_version is None:
        raise not_found(key)
    return Held(document, versions_of(connection, document.id))


def change_version(connection: sa.Connection, version_id: int, **values: Any) -> None:
    """Update columns of one version."""
    connection.execute(versions.update().where(versions.c.id == version_id).values(**values))


def store_decisions(connection: sa.Connection, row: VersionRow) -> None:
    """Write what was decided of a version: since when it is released, when it closes, by whom."""
    change_version(
        connection,
        row.id,
        released_at=row.released_at,
        closes_at=row.closes_at,
        closed_by=row.closed_by,
    )


def record_change(
    connection: sa.Connection,
    version_id: int,
    at: Moment,
    changed: Iterable[tuple[str, str | None, str | None]],
    reason: str | None = None,
) -> None:
    """Keep (field, old, new) of a version in the metadata history."""
    rows = [
        {"version_id": version_id, "at": at, "field": f, "old": old, "new": new, "reason": reason}
        for f, old, new in changed
    ]
    if rows:
        connection.execute(metadata_history.insert(), rows)


def apply_standings(
    connection: sa.Connection,
    rows: Iterable[VersionRow],
    settled: Standings,
    outbox: Outbox,
    reason: str | None = None,
) -> None:
    """Write the standings that differ from what is stored; those that end come first, so that
    at no statement two versions are active.
    """
    changed = [row for row in rows if settled.of[row.version][:2] != row.standing[:2]]
    for row in sorted(changed, key=lambda r: settled.of[r.version].status == "active"):
        standing = settled.of[row.version]
        columns: dict[str, Any] = {**standing_columns(standing), "changed_at": outbox.at}
        connection.execute(
            chunks.update()
            .where(chunks.c.version_id == row.id)
            .values(**standing_columns(standing))
        )
        if standing.status != row.status:
            columns |= _moment_of(standing.status, outbox.at)
            columns["reason"] = reason
            change = [("status", row.status, standing.status)]
            record_change(connection, row.id, outbox.at, change, reason)
        change_version(connection, row.id, **columns)
        outbox.note(row.id, row.chunks, row.standing, standing)


def _moment_of(status: Status, at: Moment) -> dict[str, Moment | None]:
    moments: dict[Status, dict[str, Moment | None]] = {
        "superseded": {"superseded_at": at},
        "withdrawn": {"withdrawn_at": at},
        "active": {"superseded_at": None},
    }
    return moments.get(status, {})


def set_current(connection: sa.Connection, document_id: int, **values: int) -> None:
    """Update a document's version numbers."""
    connection.execute(documents.update().where(documents.c.id == document_id).values(**values))


def link_versions(
    connection: sa.Connection, ids: Mapping[int, int], before: Standings | None, after: Standings
) -> None:
    """Chunk successors wherever another version now follows than before; `ids` are the versions'
    row numbers by version number.
    """
    for number, standing in after.of.items():
        known = before.of.get(number) if before is not None else None
        if known is not None and known.successor == standing.successor:
            continue
        if standing.successor is not None:
            link_successors(connection, ids[number], ids[standing.successor])
        elif known is not None:
            unlink_successors(connection, ids[number])


def unlink_successors(connection: sa.Connection, version_id: int) -> None:
    """Nothing replaces the version any more: its chunks have no successors."""
    mine = chunks.update().where(chunks.c.version_id == version_id)
    connection.execute(mine.values(superseded_by=None))


def link_successors(connection: sa.Connection, old_version_id: int, new_version_id: int) -> None:
    """Store on each chunk of the old version which chunk of the new one continues it."""
    old, new = (_places(connection, v) for v in (old_version_id, new_version_id))

    def texts(ids: Sequence[str]) -> dict[str, str]:
        wanted = set(ids)
        owners = sa.or_(
            chunks.c.version_id == old_version_id, chunks.c.version_id == new_version_id
        )
        found = connection.execute(sa.select(chunks.c.chunk_id, chunks.c.text).where(owners))
        return {row.chunk_id: row.text for row in found if row.chunk_id in wanted}

    matches = match_successors(old, new, texts, texts)
    rows = [{"key": p.chunk_id, "successor": matches.get(p.chunk_id)} for p in old]
    if rows:
        connection.execute(_LINK, rows)


_LINK = (
    chunks.update()
    .where(chunks.c.chunk_id == sa.bindparam("key"))
    .values(superseded_by=sa.bindparam("successor"))
)


def _places(connection: sa.Connection, version_id: int) -> list[Place]:
    columns = [chunks.c[name] for name in Place._fields]
    query = sa.select(*columns).where(chunks.c.version_id == version_id)
    return [Place._make(row) for row in connection.execute(query.order_by(chunks.c.ordinal))]
