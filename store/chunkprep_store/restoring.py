"""Restore: a new version with an old one's content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.ids import chunk_id, chunk_id_base
from chunkprep_ingest.metadata import Metadata, parse_metadata
from chunkprep_ingest.model import Moment
from chunkprep_store.adding import add_version
from chunkprep_store.changes import Outbox
from chunkprep_store.history import (
    Held,
    VersionRow,
    hold,
    link_versions,
    versions_of,
)
from chunkprep_store.inplace import resettle
from chunkprep_store.lifecycle import Decided, decided
from chunkprep_store.links import lock_links
from chunkprep_store.rows import (
    insert_chunks,
    shared_columns,
    standing_columns,
    to_json,
    version_columns,
)
from chunkprep_store.succession import (
    closed,
    follow,
    forget_taken_back,
    link_to_document,
    release,
)
from chunkprep_store.tables import chunk_prices, chunks, documents, elements, versions


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
    one that stands for it), until another document takes over that supersedes it. Of an erased or
    pruned document nothing is left but what keeps it out: that goes, and its next ingest is taken
    (version 0).

    Raises RequestError where there is nothing to restore, NotFoundError.
    """
    lock_links(connection, collection_id)
    if _lift_tombstone(connection, collection_id, key):
        return Decided(key, 0, "withdrawn", None, None)
    held = hold(connection, collection_id, key)
    if version is None and held.current.pruned_at is not None:
        release(connection, held, undo=True)
        return _let_in(connection, collection_id, held, now, reason)
    source = _to_restore(held, version)
    onto = release(connection, held, undo=version is None)
    last = held.history[-1]
    stored_at = max([now, *(row.decided_at + 1 for row in held.history)])
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
        effective_from=None,
        effective_to=None,
    )
    row = closed(row, onto[0]) if onto else row
    stored = connection.execute(sa.select(versions).where(versions.c.id == source.id)).one()
    kept = ("title", "rendered", "coverage", "missing", "warnings", "tokens")
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
        "held_from": None,
    }
    _copy_content(connection, source.id, base, changed)
    ids = {v.version: v.id for v in held.history} | {row.version: added.version_id}
    link_versions(connection, ids, added.before, added.settled)
    if onto:
        link_to_document(connection, added.version_id, onto[0].new_id)
    moved = follow(connection, held.document, outbox)
    outbox.send(connection)
    return decided(connection, collection_id, key, moved)


def _lift_tombstone(connection: sa.Connection, collection_id: int, key: str) -> bool:
    lifted = connection.execute(
        documents.update()
        .where(
            documents.c.collection_id == collection_id,
            documents.c.document == key,
            documents.c.erased_at.is_not(None),
        )
        .values(erased_at=None)
        .returning(documents.c.id)
    ).scalar()
    if lifted is not None:
        forget_taken_back(connection, lifted)
    return lifted is not None


def _let_in(
    connection: sa.Connection, collection_id: int, held: Held, now: Moment, reason: str | None
) -> Decided:
    """Of a pruned version nothing is left to restore: lift what keeps its source out, so that the
    next ingest stores it anew.
    """
    outbox = Outbox(collection_id, now)
    for number in {held.current.version, held.history[-1].version}:
        history = versions_of(connection, held.document.id)
        row = next(row for row in history if row.version == number)
        closed = row._replace(status="withdrawn", closed_by="sync")
        resettle(connection, history, closed, outbox, reason)
    outbox.send(connection)
    return Decided(held.document.document, 0, "withdrawn", None, None)


def _to_restore(held: Held, version: int | None) -> VersionRow:
    released = held.current.released_at is not None
    standing = held.current.status == "active" or (held.current.status == "draft" and not released)
    if version is None and standing:
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
        f"{held.document.document} has no stored version {number}; {_what_is_left(held)}", "version"
    )


def _what_is_left(held: Held) -> str:
    left = [str(row.version) for row in held.history if row.pruned_at is None]
    if left:
        return f"restore one of {', '.join(left)}"
    return "all were pruned; restore it without a version, and ingest it again"


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
