"""A prepared version meets its document: what it is to it. Decisions over values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_store.history import DRAFTED, DocumentRow, VersionRow
from chunkprep_store.inplace import merge_metadata
from chunkprep_store.links import Link
from chunkprep_store.rows import inputs_digest, to_json, version_columns
from chunkprep_store.succession import closed


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
        return max([self.now, *(v.decided_at + 1 for v in self.history)])

    @property
    def same_source(self) -> bool:
        """Whether the source is as it was at the arrival before."""
        last, prepared = self.last, self.prepared
        return last is not None and (
            last.bytes_hash, last.source_metadata, last.uri, last.etag
        ) == (prepared.bytes_hash, prepared.metadata_json, prepared.uri, prepared.etag)  # fmt: skip

    @property
    def shows_another_date(self) -> bool:
        """Whether the headers show a date that is not the source's of the arrival before."""
        if self.last is None or "date" not in orjson.loads(self.prepared.rendered):
            return False
        before = Metadata.model_validate_json(self.last.source_metadata)
        return before.valid_from != self.source.valid_from

    @property
    def by_hand(self) -> dict[str, Any]:
        """What was set by hand and still holds: until the source says something else of it."""
        if self.last is None:
            return {}
        before = Metadata.model_validate_json(self.last.source_metadata)
        current = next(
            (v for v in self.history if v.version == self.document.current_version), self.last
        )
        found: dict[str, Any] = {
            **orjson.loads(self.last.overrides), **orjson.loads(current.overrides)
        }  # fmt: skip
        return {n: v for n, v in found.items() if getattr(before, n) == getattr(self.source, n)}

    @property
    def metadata(self) -> Metadata:
        """The source's metadata with what was set by hand. Raises MetadataError."""
        return merge_metadata(self.source, self.by_hand)


Decision = Literal["new", "updated", "metadata_only", "unchanged", "revived", "healed", "recut"]


def decide(arrival: Arrival, whole: bool) -> Decision:
    """What the arrival is, compared with the version that arrived before it."""
    last, prepared = arrival.last, arrival.prepared
    if last is None:
        return "new"
    if last.status == "withdrawn" and last.closed_by == "sync":
        return "revived"
    out = last.status in ("withdrawn", "draft") and last.closed_by in ("metadata", DRAFTED)
    if out and arrival.metadata.status == "active":
        return "revived"
    if last.inputs != inputs_digest(prepared):
        if last.content_hash == prepared.content_hash and not arrival.shows_another_date:
            return "recut"
        return "unchanged" if _holds_other_text(arrival, last) else "updated"
    if not whole:
        return "healed"
    return "unchanged" if arrival.same_source else "metadata_only"


def _holds_other_text(arrival: Arrival, last: VersionRow) -> bool:
    """Whether the source is as it was when other content was restored, or another version cut
    again: that stays.
    """
    prepared = arrival.prepared
    return last.origin != "ingest" and (
        (last.bytes_hash, last.source_metadata) == (prepared.bytes_hash, prepared.metadata_json)
    )


def new_row(arrival: Arrival, onto: Sequence[Link]) -> VersionRow:
    """The new version before it is settled: born withdrawn or superseded where that was decided
    of its document.
    """
    prepared, stored_at, metadata = arrival.prepared, arrival.stored_at, arrival.metadata
    row = VersionRow(
        id=0,
        document_id=arrival.document.id,
        version=arrival.document.last_version + 1,
        status="active",
        origin="ingest",
        bytes_hash=prepared.bytes_hash,
        content_hash=prepared.content_hash,
        inputs=inputs_digest(prepared),
        reader=prepared.fingerprints.reader,
        policy=prepared.fingerprints.policy,
        profile=prepared.fingerprints.profile,
        source_metadata=prepared.metadata_json,
        overrides=to_json(arrival.by_hand),
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
        "rendered": prepared.rendered,
        "coverage": parsed.coverage,
        "missing": to_json(parsed.missing),
        "warnings": to_json(prepared.warnings),
        "tokens": sum(c.block_tokens for c in prepared.chunks),
        "run_id": arrival.run_id,
    }
