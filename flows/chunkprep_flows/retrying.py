"""`failures --retry`: each failing document again, with the settings of the run that failed it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from chunkprep_flows.direct import run_here
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import graceful_stop
from chunkprep_flows.pipeline import Progress, ingest
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.remote import is_remote
from chunkprep_ingest.sources import Listing, SourceFile, Unreadable, path_of
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
            ingest(
                _settings(asked.get(run_id or "", {}), store, collection),
                run_here,
                progress,
                listing_of_failures(group),
            )
            for run_id, group in groups.items()
        ]


def _settings(asked: dict[str, object], store: str, collection: str) -> IngestSettings:
    again = {"store": store, "collection": collection, "retry": True, "sync": False}
    return IngestSettings.model_validate({"sources": ("failures",), **asked, **again})


def listing_of_failures(failures: list[Failure]) -> Listing:
    """The files behind the failures, as a listing that speaks for no folder."""
    files: list[SourceFile] = []
    unreadable: list[Unreadable] = []
    for failure in failures:
        path = path_of(failure.uri)
        if is_remote(failure.uri):
            remedy = "run `chunkprep ingest URL --retry` with the URL that it came from"
            told = ReadError("unreadable", f"{failure.uri}: not a file of this machine", remedy)
            unreadable.append(Unreadable(failure.document, path, told, failure.uri))
            continue
        try:
            status = path.stat()
        except OSError as error:
            told = ReadError("unreadable", f"{path}: {error.strerror or error}")
            unreadable.append(Unreadable(failure.document, path, told))
            continue
        root = root_of(path, failure.document)
        files.append(
            SourceFile(
                failure.document, failure.uri, path, root, status.st_size, status.st_mtime_ns, True
            )
        )
    return Listing(tuple(files), tuple(unreadable), ())


def root_of(path: Path, document: str) -> Path:
    """The source folder that a document's key is relative to."""
    depth = len(Path(document).parts)
    return path.parents[depth - 1] if depth <= len(path.parents) else path.parent
