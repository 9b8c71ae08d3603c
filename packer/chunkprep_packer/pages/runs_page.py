"""The runs page: how fresh the collection is, what each run did, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_store import Failure, Run, Store

LISTED = 50
"""Runs on one page of the list."""

MOST_FAILURES = 200
"""Failures shown; `chunkprep failures` gives all."""

FAR = 1000
"""How far back a whole run is looked for."""

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
        **freshness(store, collection, at),
        "found": found,
        "first": first,
        "previous": max(first - LISTED, 0) if first else None,
        "next": first + LISTED if first + LISTED < found else None,
        "runs": [run_facts(run) for run in store.runs(collection, limit=LISTED, first=first)],
        "codes": dict(sorted(Counter(failure.code for failure in failures).items())),
        "failures": [_failure(failure) for failure in failures[:MOST_FAILURES]],
        "failure_count": len(failures),
    }


def freshness(store: Store, collection: str, at: Moment) -> dict[str, Any]:
    """When an ingest last looked at all that it was asked for (`whole`), and when one did that
    without a failure (`clean`); hours since, None where none of the latest FAR runs did.
    """
    whole, clean = _latest(_back(store, collection))
    return {
        "whole": None if whole is None else run_facts(whole),
        "whole_hours": _hours(whole, at),
        "clean_at": None if clean is None else iso(clean.finished_at),
        "clean_hours": _hours(clean, at),
    }


def _back(store: Store, collection: str) -> Iterable[Run]:
    """The latest runs, the newest first, some at a time: most stores need the first ones only."""
    for first in range(0, FAR, LISTED):
        some = store.runs(collection, limit=LISTED, first=first)
        yield from some
        if len(some) < LISTED:
            return


def _latest(runs: Iterable[Run]) -> tuple[Run | None, Run | None]:
    whole = None
    for run in runs:
        ended = ending(run)
        if run.kind == "ingest" and ended in ("done", "failures"):
            whole = whole or run
            if ended == "done":
                return whole, run
    return whole, None


def _hours(run: Run | None, at: Moment) -> float | None:
    if run is None or run.finished_at is None:
        return None
    return round(max(at - run.finished_at, 0) / (3600 * SECOND), 1)


def ending(run: Run) -> str:
    """How a run ended: `done`, `failures` (of documents, or a withdrawal that was refused),
    `stopped`, `error`; `unfinished` where nothing says so: it is under way, or was killed.
    """
    summary = run.summary
    if summary is None:
        return "unfinished"
    if summary.get("error"):
        return "error"
    if summary.get("stopped"):
        return "stopped"
    return "failures" if summary.get("failed") or summary.get("spared") else "done"


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
        "ended": ending(run),
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
