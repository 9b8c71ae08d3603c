"""The row of a text that is in no store: a pinned text, a chunk that a caller brings along."""

from __future__ import annotations

from typing import Final

from chunkprep_ingest.model import ChunkRow

UNSTORED: Final = ChunkRow(
    chunk_id="",
    document="",
    version=0,
    ordinal=0,
    text="",
    header="",
    block_tokens=0,
    header_tokens=0,
    delimiter_tokens=0,
    boundaries="[]",
    kind="prose",
    truncatable=False,
    heading_path="[]",
    page=None,
    status="active",
    superseded_by=None,
    effective_from=None,
    effective_to=None,
    authority=0,
    access="[]",
    source=None,
    tags="[]",
    content_hash="",
    signature=b"",
    policy="",
    profile="",
    stored_at=0,
)
"""In force at all times, open to everyone, without a place where it may be cut."""
