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
from chunkprep_store.history import DRAFTED, VersionRow, change_version, lock_documents
from chunkprep_store.inplace import replace_metadata
from chunkprep_store.lifecycle import Decided, decided, hold
from chunkprep_store.links import follow_metadata, links_from, lock_links
from chunkprep_store.restoring import restore
from chunkprep_store.rows import to_json


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
    if "supersedes" in fields:
        lock_links(connection, collection_id)
    row, metadata = _changed(connection, collection_id, key, fields)
    _refuse_shown_date(connection, row, fields)
    if row.closed_by == DRAFTED and row.status == "draft" and metadata.status == "active":
        restore(connection, collection, collection_id, key, row.version, now, reason)
        row, metadata = _changed(connection, collection_id, key, fields)
    held = hold(connection, collection_id, key)
    if row.status == "withdrawn" and metadata.status == "active" and "status" in fields:
        raise RequestError(f"{key} is withdrawn; use `chunkprep restore {key}`", "status")
    dumped = metadata.model_dump(mode="json")
    overrides = {**orjson.loads(row.overrides), **{name: dumped[name] for name in fields}}
    outbox = Outbox(collection_id, max(now, row.stored_at))
    change_version(connection, row.id, overrides=to_json(overrides))
    replace_metadata(connection, held.history, row, metadata, outbox, reason or "set by hand")
    if metadata.status != "draft":
        others = {*metadata.supersedes, *(k.old for k in links_from(connection, row.document_id))}
        locked = lock_documents(connection, collection_id, others, now) if others else {}
        follow_metadata(connection, held.document, metadata, locked, outbox)
    outbox.send(connection)
    return decided(connection, collection_id, key)


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
