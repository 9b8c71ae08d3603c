"""How each collection stands: how fresh it is, what fails, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chunkprep_flows.wording import counted
from chunkprep_ingest.freshness import SourceRuns, overdue, run_remedy
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.collection_freshness import (
    CollectionFreshness,
    collection_freshness,
    place_of,
)
from chunkprep_packer.pages.runs_page import freshness_facts, run_facts
from chunkprep_store import Failure, Run, Store

HOUR = 3_600_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """What the store says of a collection at a moment; `documents` are active, or drafts."""

    collection: str
    at: Moment
    fresh: CollectionFreshness
    failures: Sequence[Failure]
    documents: int


def gather(store: Store, collection: str | None, at: Moment) -> list[CollectionStatus]:
    """The status of a collection (None: of each). Raises NotFoundError for an unknown one."""
    names = store.collections() if collection is None else [collection]
    return [
        CollectionStatus(
            name, at, collection_freshness(store, name), store.failures(name),
            len(store.standing(name)),
        )
        for name in names
    ]  # fmt: skip


def status_record(status: CollectionStatus) -> dict[str, Any]:
    """One line of `status --json`: what `/pages/COLLECTION/runs?format=json` says of freshness, and
    the last ingest.
    """
    last = status.fresh.latest
    return {
        "collection": status.collection,
        "at": iso(status.at),
        "documents": status.documents,
        "failing": len(status.failures),
        **freshness_facts(status.fresh, status.failures, status.at),
        "last": None if last is None else run_facts(last),
        "remedy": None if last is None else run_remedy(last.summary),
    }


def source_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sources of a collection's record, each as a row of the table; one for a collection that
    has none.
    """
    none = {"documents": record["documents"], "failing": record["failing"]}
    rows = [
        {"collection": record["collection"], **source} for source in record["sources"] or [none]
    ]
    return [
        {
            **row,
            "whole": shown_moment(row.get("whole_at")),
            "last": shown_moment(row.get("last_at")),
        }
        for row in rows
    ]


def shown_moment(text: str | None) -> str | None:
    """A moment (ISO 8601) for a table, to the minute."""
    return None if text is None else f"{text[:16].replace('T', ' ')}Z"


def last_ingest(record: Mapping[str, Any]) -> str | None:
    """A line on the last ingest of a collection that did not come to its end, with what to do."""
    if record["remedy"] is None:
        return None
    last = record["last"]
    told = " ".join(record["remedy"].split())
    return f"{record['collection']}: the last ingest, {last['run_id'][:12]}: {told}"


def too_old(found: Iterable[CollectionStatus], max_age: int) -> list[str]:
    """What no ingest looked at whole within `max_age` microseconds, and for how long."""
    told = []
    for status in found:
        late = overdue(status.fresh.sources, status.at, max_age)
        told += [f"{status.collection}: {_how_old(source, status.at)}" for source in late]
        if not status.fresh.sources:
            has = counted(status.documents, "document")
            told.append(f"{status.collection}: never ingested whole ({has})")
    return told


def _how_old(source: SourceRuns[Run], at: Moment) -> str:
    if source.whole is None or source.whole.finished_at is None:
        return f"{place_of(source.source)} never ingested whole"
    hours = (at - source.whole.finished_at) / HOUR
    return f"{place_of(source.source)} last ingested whole {hours:.1f} hours ago"
