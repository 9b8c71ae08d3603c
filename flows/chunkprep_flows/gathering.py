"""The reading half of an ingest run's start: sources listed, bytes hashed, the store asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from chunkprep_flows.attempts import attempt_key
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import breakable, stop_asked
from chunkprep_flows.plan import Judged, Refused, Seen, Work, next_step
from chunkprep_flows.reading import reading_of
from chunkprep_flows.source_metadata import SourceMetadata
from chunkprep_flows.steps import Step, at_once
from chunkprep_flows.wording import counted
from chunkprep_ingest.errors import ReadError, SourceAwayError
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.listing import Listing, SourceFile, printable
from chunkprep_ingest.model import Fingerprints
from chunkprep_ingest.readers import ReadOptions, reader_fingerprint
from chunkprep_ingest.regular_file import regular_bytes
from chunkprep_ingest.sources import list_sources
from chunkprep_store import Store

ASK = 500
"""Documents that the store is asked about at once."""


class SourceSettings(Protocol):
    """What of a run's settings, or an audit's, says which files it is about."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Files, folders, globs and URLs."""
        ...

    @property
    def include(self) -> tuple[str, ...]:
        """Only files that match one of these."""
        ...

    @property
    def exclude(self) -> tuple[str, ...]:
        """No files that match one of these."""
        ...

    @property
    def mirror(self) -> str | None:
        """The folder that remote sources are downloaded to."""
        ...


class IncompleteListingError(SourceAwayError):
    """A remote source did not answer; `listing` is what could be listed, and what could not."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        away = next(item for item in listing.unreadable if item.passing)
        super().__init__(str(away.error))


def listing_of(settings: SourceSettings, step: Step = at_once) -> Listing:
    """The files that the settings name. What is still away after the step's last try is listed as
    unreadable. Raises StoppedError where somebody asks for a stop meanwhile.
    """
    try:
        return step("list-sources", partial(_listed, settings))
    except IncompleteListingError as error:
        return error.listing


def _listed(settings: SourceSettings) -> Listing:
    with breakable("the sources were listed"):
        listing = list_sources(
            settings.sources,
            include=settings.include,
            exclude=settings.exclude,
            mirrors=None if settings.mirror is None else Path(settings.mirror),
            stop_asked=stop_asked,
        )
    if any(item.passing for item in listing.unreadable):
        raise IncompleteListingError(listing)
    return listing


def all_filtered(listing: Listing, settings: SourceSettings) -> str | None:
    """A warning where files are there and the patterns leave out every one of them."""
    if listing.files or not listing.filtered:
        return None
    asked = {"--include": settings.include, "--exclude": settings.exclude}
    patterns = [f"{name} {pattern}" for name, given in asked.items() for pattern in given]
    return f"{' '.join(patterns)}: leaves out all of {counted(listing.filtered, 'file')}"


def special(listing: Listing) -> str | None:
    """A warning of pipes, sockets and devices, if there are some."""
    if not listing.special:
        return None
    first = printable(str(listing.special[0]))
    more = f" and {len(listing.special) - 1} more" if len(listing.special) > 1 else ""
    return f"no regular files, and left out (a pipe, a socket or a device): {first}{more}"


def judge(
    files: Iterable[SourceFile],
    store: Store,
    settings: IngestSettings,
    fingerprints_of: Callable[[str], Fingerprints],
) -> Iterator[Judged | Refused]:
    """Each file's next step, in the order given; one that is known and cannot be read is refused.

    Memory holds one file's bytes at a time.
    """
    metadata = SourceMetadata(settings.metadata, settings.fallback_encoding)
    reading = reading_of(settings)
    remaining = iter(files)
    while part := list(islice(remaining, ASK)):
        known = store.known(settings.collection, [file.key for file in part])
        for file in part:
            there = known.get(file.key)
            try:
                if there is None:  # whatever its bytes are, it is to be read
                    fingerprints_of(file.key)
                    yield Judged(work_of(file), "ingest", None)
                    continue
                seen = look(file, metadata, fingerprints_of, settings.fallback_encoding)
            except ReadError as error:
                loud = error.code != "unsupported_type" or file.named
                yield Refused(file.key, file.uri, error, loud)
                continue
            if there.failed_attempt is not None:
                beside = metadata.digest(seen.work)
                key = attempt_key(seen.bytes_hash, seen.fingerprints, beside, reading)
                seen = replace(seen, attempt=key)
            yield Judged(seen.work, next_step(seen, there, retry=settings.retry), there)


def work_of(file: SourceFile) -> Work:
    """The file as the batches get it."""
    return Work(file.key, file.uri, str(file.path), str(file.root), file.size)


def look(
    file: SourceFile,
    metadata: SourceMetadata,
    fingerprints_of: Callable[[str], Fingerprints],
    fallback_encoding: str | None,
) -> Seen:
    """Hash the file's bytes and see what its metadata says. Raises ReadError."""
    fingerprints = fingerprints_of(file.key)
    data = regular_bytes(file.path)
    work = work_of(file)
    return Seen(
        work,
        bytes_hash(data),
        fingerprints,
        metadata.without_reading(work, data),
        fallback_encoding=fallback_encoding,
    )


def fingerprints_for(
    policy: str, profile: str, options: ReadOptions
) -> Callable[[str], Fingerprints]:
    """The fingerprints of a document by its key. The function raises ReadError."""

    def of(key: str) -> Fingerprints:
        return Fingerprints(reader_fingerprint(key, options), policy, profile)

    return of
