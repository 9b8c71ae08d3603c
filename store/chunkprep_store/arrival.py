"""A prepared version meets its document: what it is to it. Decisions over values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Fingerprints, Moment, PreparedVersion
from chunkprep_store.history import (
    DocumentRow,
    VersionRow,
)
from chunkprep_store.links import (
    Link,
    closed,
)
from chunkprep_store.rows import (
    inputs_digest,
    to_json,
    version_columns,
)

CARRIED = frozenset({"authority", "access", "source", "tags", "review_by"})
"""Fields set by hand that hold for later versions too; dates and editions belong to one version."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prepared version that meets its document, both as they are in the transaction."""

    collection: str
    collection_id: int
    document: DocumentRow
    history: tuple[VersionRow, ...]
    prepared: PreparedVersion
    source: Metadata
    now: Moment
    run_id: str | None

    @property
    def last(self) -> VersionRow | None:
        """The version that arrived last, whatever became of it."""
        return self.history[-1] if self.history else None

    @property
    def stored_at(self) -> Moment:
        """Now, but after every moment in the document's history: a clock may step back."""
        return max([self.now, *((v.released_at or v.stored_at) + 1 for v in self.history)])


Decision = Literal["new", "updated", "metadata_only", "unchanged", "revived", "healed"]


def decide(arrival: Arrival, whole: bool) -> Decision:
    """What the arrival is, compared with the version that arrived before it."""
    last, prepared = arrival.last, arrival.prepared
    if last is None:
        return "new"
    back = last.closed_by == "metadata" and arrival.source.status == "active"
    if last.status == "withdrawn" and (last.closed_by == "sync" or back):
        return "revived"
    if last.inputs != inputs_digest(prepared):
        return "unchanged" if _restored_since(last, prepared) else "updated"
    if not whole:
        return "healed"
    before = (last.bytes_hash, last.source_metadata, last.uri, last.etag)
    after = (prepared.bytes_hash, prepared.metadata_json, prepared.uri, prepared.etag)
    return "unchanged" if before == after else "metadata_only"


def _restored_since(last: VersionRow, prepared: PreparedVersion) -> bool:
    """Whether the source is as it was when other content was restored: the restored one stays."""
    return last.origin == "restore" and (
        last.bytes_hash,
        last.source_metadata,
        Fingerprints(last.reader, last.policy, last.profile),
    ) == (prepared.bytes_hash, prepared.metadata_json, prepared.fingerprints)


def carried(arrival: Arrival) -> dict[str, Any]:
    """What was set by hand of the last version and holds for the new one too."""
    if arrival.last is None:
        return {}
    overrides: dict[str, Any] = orjson.loads(arrival.last.overrides)
    return {name: value for name, value in overrides.items() if name in CARRIED}


def new_row(
    arrival: Arrival, metadata: Metadata, overrides: dict[str, Any], onto: Sequence[Link]
) -> VersionRow:
    """The new version before it is settled: born withdrawn or superseded where that was decided
    of its document.
    """
    prepared, stored_at = arrival.prepared, arrival.stored_at
    row = VersionRow(
        id=0,
        document_id=arrival.document.id,
        version=arrival.document.last_version + 1,
        status="active",
        origin="ingest",
        bytes_hash=prepared.bytes_hash,
        inputs=inputs_digest(prepared),
        reader=prepared.fingerprints.reader,
        policy=prepared.fingerprints.policy,
        profile=prepared.fingerprints.profile,
        source_metadata=prepared.metadata_json,
        overrides=to_json(overrides),
        metadata=metadata.model_dump_json(),
        uri=prepared.uri,
        etag=prepared.etag,
        edition=metadata.edition,
        valid_from=metadata.valid_from,
        valid_to=metadata.valid_to,
        stored_at=stored_at,
        released_at=None if metadata.status == "draft" else stored_at,
        closes_at=None,
        closed_by=None,
        effective_from=None,
        effective_to=None,
        chunks=len(prepared.chunks),
        pruned_at=None,
    )
    if metadata.status == "withdrawn":
        return row._replace(status="withdrawn", closes_at=stored_at, closed_by="metadata")
    last = arrival.last
    if last is not None and last.status == "withdrawn" and last.closed_by == "hand":
        return row._replace(
            status="withdrawn", released_at=stored_at, closes_at=stored_at, closed_by="hand"
        )
    return closed(row, onto[0]) if onto else row


def version_values(arrival: Arrival, metadata: Metadata) -> dict[str, Any]:
    """The columns of a new version that no decision needs."""
    prepared = arrival.prepared
    parsed = prepared.parsed
    return {
        **version_columns(metadata),
        "title": prepared.title,
        "content_hash": prepared.content_hash,
        "rendered": prepared.rendered,
        "coverage": parsed.coverage,
        "missing": to_json(parsed.missing),
        "warnings": to_json(prepared.warnings),
        "tokens": sum(c.block_tokens for c in prepared.chunks),
        "run_id": arrival.run_id,
    }
