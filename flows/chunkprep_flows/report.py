"""What `chunkprep report` shows, gathered from a store."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chunkprep_flows.auditing import findings, sources_listed
from chunkprep_flows.named_sources import NamedSources
from chunkprep_flows.records import failure_record, run_record
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer import LogFigures, log_figures
from chunkprep_packer.block_sizes import BlockSizes, block_sizes
from chunkprep_store import DocumentCounts, Failure, Finding, LargeBlock, Run, Store

STALE = (
    "expired", "review_due", "not_yet_valid", "policy_drift", "profile_drift", "low_coverage",
    "served_stale", "source_unreadable", "source_changed", "source_missing",
)  # fmt: skip
"""The audit's checks that tell a document has aged, or is not what its source says."""

RUNS = 20
"""Runs shown, the latest."""


@dataclass(frozen=True, slots=True)
class Report:
    """A collection at a moment, and its log of packs since one (None: all of it)."""

    collection: str
    at: Moment
    since: Moment | None
    documents: DocumentCounts
    sizes: BlockSizes
    largest: tuple[LargeBlock, ...]
    packs: LogFigures
    stale: tuple[Finding, ...]
    failures: tuple[Failure, ...]
    runs: tuple[Run, ...] = ()
    """The latest, the newest first."""


def gather(
    store: Store,
    collection: str,
    *,
    now: Moment,
    since: Moment | None = None,
    sources: NamedSources | None = None,
) -> Report:
    """Read everything the report shows. Raises NotFoundError for an unknown collection."""
    policy = store.primary_policy(collection)
    cap = None if policy is None else policy.cap
    listing = None if sources is None else sources_listed(sources)
    return Report(
        collection=collection,
        at=now,
        since=since,
        documents=store.document_counts(collection, at=now),
        sizes=block_sizes(store.sizes(collection, at=now), cap),
        largest=tuple(store.largest(collection, at=now)),
        packs=log_figures(store.packs(collection, since=since)),
        stale=tuple(findings(store, collection, now=now, listing=listing, checks=STALE)),
        failures=tuple(store.failures(collection)),
        runs=tuple(store.runs(collection, limit=RUNS)),
    )


def report_record(report: Report) -> dict[str, Any]:
    """The one object of `report --json`."""
    packs = asdict(report.packs)
    found = packs.pop("signatures")
    return {
        "collection": report.collection,
        "at": iso(report.at),
        "since": iso(report.since),
        "documents": report.documents._asdict(),
        "sizes": {**asdict(report.sizes), "largest_blocks": [b._asdict() for b in report.largest]},
        "packs": {**packs, "first": iso(report.packs.first), "last": iso(report.packs.last)},
        "signatures": found,
        "stale": [finding._asdict() for finding in report.stale],
        "failures": [failure_record(failure) for failure in report.failures],
        "runs": [run_record(run) for run in report.runs],
    }
