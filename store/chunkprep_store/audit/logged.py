"""Check of the log of packs: whether the columns of a row say what its JSON says."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.packlog import read_packs
from chunkprep_store.packlog_columns import disagreement

RECENT = 30 * 24 * 3600 * 1_000_000
"""Microseconds of the log that are looked at unless all is recounted."""


def pack_log(
    connection: sa.Connection, collection_id: int, since: Moment | None
) -> Iterator[Finding]:
    """Packs logged `since` then (None: all) with columns or packed chunks unlike their JSON."""
    for record in read_packs(connection, collection_id, since, None):
        wrong = disagreement(record)
        if wrong is not None:
            yield finding("pack_log", "error", f"pack {record.request_id}: {wrong}")
