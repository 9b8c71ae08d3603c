"""Changes that keep a version's texts, ids and prices: metadata that no header shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.metadata import METADATA_FIELDS, Metadata, parse_metadata
from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_ingest.replacement import Standings, settle
from chunkprep_store.changes import Outbox
from chunkprep_store.history import (
    DRAFTED,
    VersionRow,
    apply_standings,
    change_version,
    link_versions,
    record_change,
    set_current,
    store_decisions,
)
from chunkprep_store.rows import shared_columns, to_json, version_columns
from chunkprep_store.tables import chunks


def merge_metadata(source: Metadata, overrides: dict[str, Any]) -> Metadata:
    """The source's metadata with what was set by hand. Raises MetadataError."""
    if not overrides:
        return source
    return parse_metadata({**source.model_dump(), **overrides}, "set by hand")


def update_in_place(
    connection: sa.Connection,
    history: Sequence[VersionRow],
    prepared: PreparedVersion,
    metadata: Metadata,
    by_hand: dict[str, Any],
    outbox: Outbox,
) -> None:
    """Take over what a source says anew of its last version; `metadata` is with what is set
    `by_hand` and still holds.
    """
    last = history[-1]
    change_version(
        connection,
        last.id,
        bytes_hash=prepared.bytes_hash,
        uri=prepared.uri,
        etag=prepared.etag,
        source_metadata=prepared.metadata_json,
        overrides=to_json(by_hand),
    )
    replace_metadata(connection, history, last, metadata, outbox, "the source's metadata changed")


def replace_metadata(
    connection: sa.Connection,
    history: Iterable[VersionRow],
    row: VersionRow,
    metadata: Metadata,
    outbox: Outbox,
    reason: str | None,
) -> None:
    """Give a version other metadata: its columns, its chunks' columns, history, ranges."""
    before = Metadata.model_validate_json(row.metadata)
    changed = [
        (name, to_json(getattr(before, name)), to_json(getattr(metadata, name)))
        for name in sorted(METADATA_FIELDS)
        if getattr(before, name) != getattr(metadata, name)
    ]
    if not changed:
        return
    record_change(connection, row.id, outbox.at, changed, reason)
    change_version(connection, row.id, **version_columns(metadata))
    if shared_columns(before) != shared_columns(metadata):
        connection.execute(
            chunks.update().where(chunks.c.version_id == row.id).values(**shared_columns(metadata))
        )
    if row.recut_of is not None and before.valid_from != metadata.valid_from:
        held = {"held_from": metadata.valid_from}
        connection.execute(chunks.update().where(chunks.c.version_id == row.id).values(held))
    after = _released(row, before, metadata, outbox.at)._replace(
        edition=metadata.edition, valid_from=metadata.valid_from, valid_to=metadata.valid_to
    )
    settled = resettle(connection, history, after, outbox, reason)
    outbox.note(row.id, row.chunks, row.standing, settled.of[row.version])


def _released(row: VersionRow, before: Metadata, after: Metadata, at: Moment) -> VersionRow:
    """The version after its declared status changed: released, or taken out of force. A draft
    again, it has been in force until now.
    """
    if before.status == after.status:
        return row
    if after.status == "active":
        return row._replace(released_at=row.released_at or at)
    if after.status == "draft" and row.released_at is None:
        return row
    closes_at = at if row.closes_at is None else min(at, row.closes_at)
    closed_by = DRAFTED if after.status == "draft" else "metadata"
    return row._replace(
        released_at=row.released_at or at,
        status=after.status,
        closes_at=closes_at,
        closed_by=closed_by,
    )


def resettle(
    connection: sa.Connection,
    history: Iterable[VersionRow],
    changed: VersionRow,
    outbox: Outbox,
    reason: str | None,
) -> Standings:
    """Store one version's new facts, and what they make of all versions of the document."""
    before = list(history)
    rows = [changed if row.id == changed.id else row for row in before]
    store_decisions(connection, changed)
    settled = settle(row.facts for row in rows)
    apply_standings(connection, before, settled, outbox, reason)
    set_current(connection, changed.document_id, current_version=settled.current)
    ids = {row.version: row.id for row in rows}
    link_versions(connection, ids, settle(row.facts for row in before), settled)
    return settled
