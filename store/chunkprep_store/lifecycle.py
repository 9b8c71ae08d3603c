"""Decisions by hand (and by `--sync`): supersede, withdraw, restore, set metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import MetadataError, RequestError
from chunkprep_ingest.ids import chunk_id, chunk_id_base
from chunkprep_ingest.metadata import METADATA_FIELDS, RENDERED_FIELDS, Metadata, parse_metadata
from chunkprep_ingest.model import Moment, Status
from chunkprep_ingest.replacement import settle
from chunkprep_store.changes import Outbox
from chunkprep_store.documents import not_found
from chunkprep_store.history import (
    DocumentRow,
    VersionRow,
    apply_standings,
    change_version,
    link_versions,
    lock_documents,
    versions_of,
)
from chunkprep_store.inplace import replace_metadata
from chunkprep_store.links import add_link, follow_metadata, links_from, lock_links
from chunkprep_store.rows import (
    insert_chunks,
    shared_columns,
    standing_columns,
    to_json,
    version_columns,
)
from chunkprep_store.tables import chunk_prices, chunks, documents, elements, links, versions
from chunkprep_store.writing import add_version

By = Literal["hand", "sync"]


class Decided(NamedTuple):
    """What a decision made of a document: the version that stands for it now."""

    document: str
    version: int
    status: Status
    effective_from: Moment | None
    effective_to: Moment | None


class Held(NamedTuple):
    """A document under lock, with its versions; there is at least one."""

    document: DocumentRow
    history: list[VersionRow]

    @property
    def current(self) -> VersionRow:
        """The version that stands for the document."""
        number = self.document.current_version
        return next(row for row in self.history if row.version == number)


def hold(connection: sa.Connection, collection_id: int, key: str) -> Held:
    """Lock a document. Raises NotFoundError where it is not here (or was erased)."""
    document = lock_documents(connection, collection_id, [key]).get(key)
    if document is None or document.current_version is None:
        raise not_found(key)
    return Held(document, versions_of(connection, document.id))


def decided(connection: sa.Connection, collection_id: int, key: str) -> Decided:
    """How a document stands now."""
    row = hold(connection, collection_id, key).current
    return Decided(key, row.version, row.status, row.effective_from, row.effective_to)


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
    add_link(connection, locked[old], locked[new], start, outbox, "hand", reason)
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
    held = hold(connection, collection_id, key)
    current = held.current
    if current.status == "withdrawn":
        if by == "hand":
            change_version(connection, current.id, closed_by="hand")
        return decided(connection, collection_id, key)
    outbox = Outbox(collection_id, max(now, current.released_at or now))
    after = [_withdrawn(row, row.id == current.id, outbox.at, by) for row in held.history]
    for row in set(after) - set(held.history):
        change_version(
            connection,
            row.id,
            released_at=row.released_at,
            closes_at=row.closes_at,
            closed_by=row.closed_by,
        )
    settled = settle(row.facts for row in after)
    apply_standings(connection, held.history, settled, outbox, reason)
    outbox.send(connection)
    return decided(connection, collection_id, key)


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


def restore(
    connection: sa.Connection,
    collection: str,
    collection_id: int,
    key: str,
    version: int | None,
    now: Moment,
    reason: str | None,
) -> Decided:
    """Put a document in force again as a new version with the content of `version` (default: the
    one that stands for it). Links that supersede it go. Of an erased document only the tombstone
    goes: its next ingest is taken.

    Raises RequestError where there is nothing to restore, NotFoundError.
    """
    lock_links(connection, collection_id)
    if _lift_tombstone(connection, collection_id, key):
        return Decided(key, 0, "withdrawn", None, None)
    held = hold(connection, collection_id, key)
    source = _to_restore(held, version)
    connection.execute(links.delete().where(links.c.old_id == held.document.id))
    last = held.history[-1]
    stored_at = max([now, *((row.released_at or row.stored_at) + 1 for row in held.history)])
    outbox = Outbox(collection_id, stored_at)
    overrides = _restored_overrides(source, stored_at)
    metadata = parse_metadata(
        {**Metadata.model_validate_json(source.metadata).model_dump(), **overrides}, key
    )
    row = source._replace(
        version=held.document.last_version + 1,
        status="active",
        origin="restore",
        bytes_hash=last.bytes_hash,
        source_metadata=last.source_metadata,
        overrides=to_json({**orjson.loads(source.overrides), **overrides}),
        uri=last.uri,
        etag=last.etag,
        valid_from=metadata.valid_from,
        valid_to=metadata.valid_to,
        stored_at=stored_at,
        released_at=stored_at,
        closes_at=None,
        closed_by=None,
    )
    stored = connection.execute(sa.select(versions).where(versions.c.id == source.id)).one()
    kept = ("title", "content_hash", "rendered", "coverage", "missing", "warnings", "tokens")
    values = {name: getattr(stored, name) for name in kept}
    values |= {**version_columns(metadata), "reason": reason}
    added = add_version(connection, held.history, row, values, outbox)
    prints = (stored.reader, stored.policy, stored.profile)
    repeat = sum(v.inputs == source.inputs for v in held.history)
    base = chunk_id_base(collection, key, stored.content_hash, stored.rendered, prints, repeat)
    changed = {
        **shared_columns(metadata),
        **standing_columns(added.settled.of[row.version]),
        "version_id": added.version_id,
        "version": row.version,
        "stored_at": stored_at,
        "superseded_by": None,
    }
    _copy_content(connection, source.id, base, changed)
    ids = {v.version: v.id for v in held.history} | {row.version: added.version_id}
    link_versions(connection, ids, added.before, added.settled)
    outbox.send(connection)
    return decided(connection, collection_id, key)


def _lift_tombstone(connection: sa.Connection, collection_id: int, key: str) -> bool:
    lifted = connection.execute(
        documents.update()
        .where(
            documents.c.collection_id == collection_id,
            documents.c.document == key,
            documents.c.erased_at.is_not(None),
        )
        .values(erased_at=None)
    )
    return lifted.rowcount > 0


def _to_restore(held: Held, version: int | None) -> VersionRow:
    if version is None and held.current.status in ("active", "draft"):
        what = "in force" if held.current.status == "active" else "a draft"
        raise RequestError(
            f"{held.document.document} is {what}; name the version to go back to, or for a draft "
            f"`chunkprep set {held.document.document} status=active`",
            "version",
        )
    number = held.current.version if version is None else version
    for row in held.history:
        if row.version == number and row.pruned_at is None:
            return row
    raise RequestError(
        f"{held.document.document} has no stored version {number}; `chunkprep versions` lists "
        f"what it has",
        "version",
    )


def _restored_overrides(source: VersionRow, at: Moment) -> dict[str, Any]:
    """What must not hold any more for the content to be in force again."""
    overrides: dict[str, Any] = {}
    if Metadata.model_validate_json(source.metadata).status != "active":
        overrides["status"] = "active"
    if source.valid_to is not None and source.valid_to <= at:
        overrides["valid_to"] = None
    return overrides


def _copy_content(
    connection: sa.Connection, source_id: int, id_base: str, changed: Mapping[str, Any]
) -> None:
    """Elements, chunks and their further prices of another version, under new ids."""
    target = changed["version_id"]
    payload = sa.select(elements.c.payload).where(elements.c.version_id == source_id)
    connection.execute(
        elements.insert().values(version_id=target, payload=payload.scalar_subquery())
    )
    found = connection.execute(sa.select(chunks).where(chunks.c.version_id == source_id))
    rows = [{**row._mapping, **changed} for row in found]
    for row in rows:
        row["chunk_id"] = chunk_id(id_base, row["ordinal"])
    insert_chunks(connection, rows)
    old, new = chunks.alias("old"), chunks.alias("new")
    prices = [c for c in chunk_prices.c if c.name != "chunk_row"]
    same = sa.and_(new.c.version_id == target, new.c.ordinal == old.c.ordinal)
    copied = (
        sa.select(new.c.id, *prices)
        .select_from(chunk_prices)
        .join(old, old.c.id == chunk_prices.c.chunk_row)
        .join(new, same)
        .where(old.c.version_id == source_id)
    )
    names = ["chunk_row", *(c.name for c in prices)]
    connection.execute(chunk_prices.insert().from_select(names, copied))


def set_metadata(
    connection: sa.Connection,
    collection_id: int,
    key: str,
    fields: Mapping[str, object],
    now: Moment,
    reason: str | None,
) -> Decided:
    """Set fields of the version that stands for a document, over what its source says.

    Raises RequestError for a field that cannot be set so, MetadataError for a wrong value.
    """
    _refuse_fields(fields)
    if "supersedes" in fields:
        lock_links(connection, collection_id)
    held = hold(connection, collection_id, key)
    row = held.current
    before = Metadata.model_validate_json(row.metadata)
    metadata = parse_metadata({**before.model_dump(), **fields}, key)
    if row.status == "withdrawn" and metadata.status == "active" and "status" in fields:
        raise RequestError(f"{key} is withdrawn; use `chunkprep restore {key}`", "status")
    dumped = metadata.model_dump(mode="json")
    overrides = {**orjson.loads(row.overrides), **{name: dumped[name] for name in fields}}
    outbox = Outbox(collection_id, now)
    change_version(connection, row.id, overrides=to_json(overrides))
    replace_metadata(connection, held.history, row, metadata, outbox, reason or "set by hand")
    if metadata.status != "draft":
        others = {*metadata.supersedes, *(k.old for k in links_from(connection, row.document_id))}
        locked = lock_documents(connection, collection_id, others, now) if others else {}
        follow_metadata(connection, held.document, metadata, locked, outbox)
    outbox.send(connection)
    return decided(connection, collection_id, key)


def _refuse_fields(fields: Mapping[str, object]) -> None:
    for name in fields:
        if name not in METADATA_FIELDS:
            known = ", ".join(sorted(METADATA_FIELDS - RENDERED_FIELDS))
            raise RequestError(f"{name!r} is no metadata field; use one of {known}", name)
        if name in RENDERED_FIELDS:
            raise RequestError(
                f"{name} stands in every header, so that it makes a new version: change it in the "
                f"document, its sidecar or chunkprep.yaml, and ingest again",
                name,
            )
    if not fields:
        raise MetadataError("bad_metadata", "no field was given; write KEY=VALUE")
