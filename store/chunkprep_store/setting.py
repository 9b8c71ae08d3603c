"""Metadata set by hand."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import MetadataError, RequestError
from chunkprep_ingest.metadata import METADATA_FIELDS, RENDERED_FIELDS, Metadata, parse_metadata
from chunkprep_ingest.model import Moment
from chunkprep_store.changes import Outbox
from chunkprep_store.collection import get_policy
from chunkprep_store.history import (
    DRAFTED,
    Held,
    VersionRow,
    change_version,
    hold,
    versions_of,
)
from chunkprep_store.inplace import replace_metadata
from chunkprep_store.lifecycle import Decided, decided
from chunkprep_store.links import lock_links
from chunkprep_store.restoring import restore
from chunkprep_store.rows import to_json
from chunkprep_store.succession import Moved, follow


def set_metadata(
    connection: sa.Connection,
    collection: str,
    collection_id: int,
    key: str,
    fields: Mapping[str, object],
    now: Moment,
    reason: str | None,
) -> Decided:
    """Set fields of the version that stands for a document, over what its source says. A draft
    that was in force once becomes so again as a new version with its text.

    Raises RequestError for a field that cannot be set so, MetadataError for a wrong value.
    """
    _refuse_fields(fields)
    lock_links(connection, collection_id)
    moved: tuple[Moved, ...] = ()
    row, metadata = _changed(connection, collection_id, key, fields)
    _refuse_shown_date(connection, row, fields)
    if row.closed_by == DRAFTED and row.status == "draft" and metadata.status == "active":
        back = restore(connection, collection, collection_id, key, row.version, now, reason)
        moved = back.moved
        row, metadata = _changed(connection, collection_id, key, fields)
    held = hold(connection, collection_id, key)
    if row.status == "withdrawn" and metadata.status == "active" and "status" in fields:
        raise RequestError(f"{key} is withdrawn; use `chunkprep restore {key}`", "status")
    dumped = metadata.model_dump(mode="json")
    overrides = {**orjson.loads(row.overrides), **{name: dumped[name] for name in fields}}
    outbox = Outbox(collection_id, max(now, row.stored_at))
    change_version(connection, row.id, overrides=to_json(overrides))
    replace_metadata(connection, held.history, row, metadata, outbox, reason or "set by hand")
    moved += tuple(follow(connection, held.document, outbox, metadata.supersedes))
    outbox.send(connection)
    return decided(connection, collection_id, key, (*moved, *_reopened(connection, held, row)))


def _reopened(connection: sa.Connection, held: Held, row: VersionRow) -> list[Moved]:
    """The version before an announced one that became a draft again before its day."""
    after = {now.id: now for now in versions_of(connection, held.document.id)}
    return [
        Moved(held.document.document, old.version, after[old.id].effective_to)
        for old in held.history
        if after[old.id].status == "active" and old.status == "superseded" and old.id != row.id
    ]


def _changed(
    connection: sa.Connection, collection_id: int, key: str, fields: Mapping[str, object]
) -> tuple[VersionRow, Metadata]:
    row = hold(connection, collection_id, key).current
    before = Metadata.model_validate_json(row.metadata)
    return row, parse_metadata({**before.model_dump(), **fields}, key)


def _refuse_shown_date(
    connection: sa.Connection, row: VersionRow, fields: Mapping[str, object]
) -> None:
    policy = get_policy(connection, row.policy)
    if "valid_from" in fields and policy is not None and "date" in policy.header_fields:
        raise _stands_in_headers("valid_from")


def _stands_in_headers(name: str) -> RequestError:
    return RequestError(
        f"{name} stands in every header, so that it makes a new version: change it in the "
        f"document, its sidecar or chunkprep.yaml, and ingest again",
        name,
    )


def _refuse_fields(fields: Mapping[str, object]) -> None:
    for name in fields:
        if name not in METADATA_FIELDS:
            known = ", ".join(sorted(METADATA_FIELDS - RENDERED_FIELDS))
            raise RequestError(f"{name!r} is no metadata field; use one of {known}", name)
        if name in RENDERED_FIELDS:
            raise _stands_in_headers(name)
    if not fields:
        raise MetadataError("bad_metadata", "no field was given; write KEY=VALUE")
