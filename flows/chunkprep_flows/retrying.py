"""`failures --retry`: each failing document again, with the settings of the run that failed it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from chunkprep_flows.direct import run_here
from chunkprep_flows.gathering import listing_of
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import graceful_stop
from chunkprep_flows.named_sources import NamedSources
from chunkprep_flows.pipeline import Progress, ingest
from chunkprep_ingest.errors import KEY_CLASH, ReadError
from chunkprep_ingest.left_out import path_of
from chunkprep_ingest.listing import Listing, SourceFile, Unreadable
from chunkprep_ingest.remote import is_remote
from chunkprep_store import Failure, Store

RUNS = 1000
"""How far back the settings of a run are looked for."""


def retry_failures(store: str, collection: str, progress: Progress) -> list[IngestReport]:
    """One direct run for each run that left failures, the latest settings first."""
    with Store.open(store, create=False) as source:
        failures = source.failures(collection)
        asked = {run.run_id: run.settings for run in source.runs(collection, limit=RUNS)}
    groups: dict[str | None, list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.run_id if failure.run_id in asked else None].append(failure)
    with graceful_stop():
        return [
            _retry(_settings(asked.get(run_id or "", {}), store, collection), group, progress)
            for run_id, group in groups.items()
        ]


def _retry(settings: IngestSettings, failures: list[Failure], progress: Progress) -> IngestReport:
    return ingest(settings, run_here, progress, listing_of_failures(failures, settings))


def _settings(asked: dict[str, object], store: str, collection: str) -> IngestSettings:
    again = {"store": store, "collection": collection, "retry": True, "sync": False}
    return IngestSettings.model_validate({"sources": ("failures",), **asked, **again})


def listing_of_failures(failures: list[Failure], settings: IngestSettings) -> Listing:
    """The files behind the failures, as a listing that speaks for no folder.

    A remote document is looked for where the run of these settings found it.
    """
    clashing = [failure for failure in failures if failure.code == KEY_CLASH]
    single = [failure for failure in failures if failure.code != KEY_CLASH]
    here = [failure for failure in single if not is_remote(failure.uri)]
    there = [failure for failure in single if is_remote(failure.uri)]
    found = [*map(_local, here), *_remote(there, settings), *map(_still_clashing, clashing)]
    return Listing(
        tuple(item for item in found if isinstance(item, SourceFile)),
        tuple(item for item in found if isinstance(item, Unreadable)),
        (),
    )


def _local(failure: Failure) -> SourceFile | Unreadable:
    path = path_of(failure.uri)
    try:
        status = path.stat()
    except OSError as error:
        told = ReadError("unreadable", f"{path}: {error.strerror or error}")
        return Unreadable(failure.document, path, told, failure.uri)
    root = root_of(path, failure.document)
    return SourceFile(
        failure.document, failure.uri, path, root, status.st_size, status.st_mtime_ns, True
    )


def _still_clashing(failure: Failure) -> Unreadable:
    """By itself a file clashes with nothing: only an ingest of both tells whether they still do."""
    told = ReadError(failure.code, failure.message, failure.remedy)
    return Unreadable(failure.document, path_of(failure.uri), told, failure.uri, passing=True)


def _remote(failures: list[Failure], settings: IngestSettings) -> list[SourceFile | Unreadable]:
    """The same documents in a fresh listing of the run's remote sources."""
    sources = tuple(source for source in settings.sources if is_remote(source))
    if not failures:
        return []
    listing = listing_of(NamedSources(sources, settings.include, settings.exclude, settings.mirror))
    found: dict[str | None, SourceFile | Unreadable] = {x.uri: x for x in listing.unreadable}
    found |= {file.uri: file for file in listing.files}
    return [found.get(failure.uri) or _gone(failure, listing) for failure in failures]


def _gone(failure: Failure, listing: Listing) -> Unreadable:
    """A document that the listing has not; where a source is away as a whole, that is why."""
    path = path_of(failure.uri)
    if listing.unreadable:
        away = listing.unreadable[0].error
        return Unreadable(failure.document, path, away, failure.uri, passing=True)
    remedy = "run `chunkprep ingest URL --sync` with the URL that it came from, or restore it"
    told = ReadError("unreadable", f"{failure.uri}: no longer in its source", remedy)
    return Unreadable(failure.document, path, told, failure.uri)


def root_of(path: Path, document: str) -> Path:
    """The source folder that a document's key is relative to."""
    depth = len(Path(document).parts)
    return path.parents[depth - 1] if depth <= len(path.parents) else path.parent
