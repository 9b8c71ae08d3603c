"""The runs page: how fresh the collection is, what each run did, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chunkprep_ingest.freshness import SourceRuns, ending, remedy, source_of
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.collection_freshness import (
    CollectionFreshness,
    collection_freshness,
    place_of,
)
from chunkprep_store import Failure, Run, Store

LISTED = 50
"""Runs on one page of the list."""

MOST_FAILURES = 200
"""Failures shown; `chunkprep failures` gives all."""

COUNTED = (
    "new", "updated", "metadata_only", "revived", "unchanged", "withdrawn", "skipped", "failed",
)  # fmt: skip
"""What an ingest counts documents by."""

SECOND = 1_000_000


def runs_facts(store: Store, collection: str, *, at: Moment, first: int = 0) -> dict[str, Any]:
    """Everything the page shows: LISTED runs from `first` on, the newest first. Raises
    NotFoundError for an unknown collection.
    """
    found = store.run_count(collection)
    failures = store.failures(collection)
    return {
        "collection": collection,
        "at": iso(at),
        **freshness(store, collection, at, failures),
        "found": found,
        "first": first,
        "previous": max(first - LISTED, 0) if first else None,
        "next": first + LISTED if first + LISTED < found else None,
        "runs": [run_facts(run) for run in store.runs(collection, limit=LISTED, first=first)],
        "codes": dict(sorted(Counter(failure.code for failure in failures).items())),
        "failures": [_failure(failure) for failure in failures[:MOST_FAILURES]],
        "failure_count": len(failures),
    }


def freshness(
    store: Store, collection: str, at: Moment, failures: Sequence[Failure] | None = None
) -> dict[str, Any]:
    """When an ingest last looked at all that the collection has, of the source where that is
    longest ago (`whole`), and when one did so without a failure (`clean`); the same by source.
    Hours since, None where none of the latest runs did. `failures` are the store's, if at hand.
    """
    if failures is None:
        failures = store.failures(collection)
    return freshness_facts(collection_freshness(store, collection), failures, at)


def freshness_facts(
    fresh: CollectionFreshness, failures: Iterable[Failure], at: Moment
) -> dict[str, Any]:
    """The same of what is read already."""
    failing = failing_by_source(failures)
    whole, clean = fresh.whole, fresh.clean
    return {
        "whole": None if whole is None else run_facts(whole),
        "whole_hours": _hours(whole, at),
        "clean_at": None if clean is None else iso(clean.finished_at),
        "clean_hours": _hours(clean, at),
        "sources": [
            source_facts(runs, at, fresh.counts.get(runs.source, 0), failing[runs.source])
            for runs in (*fresh.sources, *fresh.strays)
        ],
    }


def source_facts(runs: SourceRuns[Run], at: Moment, documents: int, failing: int) -> dict[str, Any]:
    """One source: when it was last looked at whole, how the last ingest of it did that came to its
    end (None: none is known), and what to do about it (None: nothing).
    """
    last = runs.last
    return {
        "source": runs.source,
        "place": place_of(runs.source),
        "documents": documents,
        "failing": failing,
        "whole_at": None if runs.whole is None else iso(runs.whole.finished_at),
        "whole_hours": _hours(runs.whole, at),
        "clean_at": None if runs.clean is None else iso(runs.clean.finished_at),
        "last_at": None if last is None else iso(last.finished_at),
        "last_ended": None if last is None else ending(last.summary),
        "remedy": remedy(runs.look, failing),
    }


def failing_by_source(failures: Iterable[Failure]) -> Counter[str]:
    """How many documents fail now, by their source."""
    return Counter(source_of(failure.uri, failure.document) for failure in failures)


def _hours(run: Run | None, at: Moment) -> float | None:
    if run is None or run.finished_at is None:
        return None
    return round(max(at - run.finished_at, 0) / (3600 * SECOND), 1)


def run_facts(run: Run) -> dict[str, Any]:
    """One run: when, how long (seconds), how it ended, what it counted."""
    summary = run.summary or {}
    ended = run.finished_at
    return {
        "run_id": run.run_id,
        "kind": "sync" if run.kind == "ingest" and run.settings.get("sync") else run.kind,
        "started_at": iso(run.started_at),
        "finished_at": iso(ended),
        "seconds": None if ended is None else round((ended - run.started_at) / SECOND, 1),
        "ended": ending(run.summary),
        "counts": {name: summary[name] for name in COUNTED if summary.get(name)},
        "chunks": _number(summary, "chunks_written", "chunks"),
        "tokens": _number(summary, "tokens_written"),
        "left": _number(summary, "left"),
        "notes": _notes(summary),
        "flow_run_id": run.flow_run_id,
        "flow_run_url": _address(summary.get("flow_run_url")),
    }


def _number(summary: Mapping[str, Any], *names: str) -> int | None:
    """The first of these figures that the summary has."""
    return next((int(summary[name]) for name in names if summary.get(name) is not None), None)


def _notes(summary: Mapping[str, Any]) -> list[str]:
    error = summary.get("error")
    return [*([str(error)] if error else []), *map(str, summary.get("warnings") or ())]


def _address(url: object) -> str | None:
    """An address that may stand in a link: a summary is data."""
    return url if isinstance(url, str) and url.startswith(("http://", "https://")) else None


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "document": failure.document,
        "code": failure.code,
        "attempts": failure.attempts,
        "first_at": iso(failure.first_at),
        "last_at": iso(failure.last_at),
        "message": failure.message,
        "remedy": failure.remedy,
        "run_id": failure.run_id,
    }
