"""The reading half of an ingest run's start: sources listed, bytes hashed, the store asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from chunkprep_flows.attempts import attempt_key
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.plan import Judged, Refused, Seen, Work, next_step
from chunkprep_flows.reading import reading_of
from chunkprep_flows.source_metadata import SourceMetadata
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.model import Fingerprints
from chunkprep_ingest.readers import ReadOptions, reader_fingerprint
from chunkprep_ingest.sources import Listing, SourceFile, list_sources
from chunkprep_store import Store

ASK = 500
"""Documents that the store is asked about at once."""


def listing_of(settings: IngestSettings) -> Listing:
    """The files that the settings name."""
    return list_sources(
        settings.sources,
        include=settings.include,
        exclude=settings.exclude,
        mirrors=None if settings.mirror is None else Path(settings.mirror),
    )


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
            if there.failed_hash is not None:
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
    data = read_bytes(str(file.path))
    work = work_of(file)
    return Seen(
        work,
        bytes_hash(data),
        fingerprints,
        metadata.without_reading(work, data),
        fallback_encoding=fallback_encoding,
    )


def read_bytes(path: str) -> bytes:
    """The file's bytes. Raises ReadError (unreadable)."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path of any bytes
            return file.read()
    except OSError as error:
        raise ReadError("unreadable", f"{path}: {error.strerror or error}") from error


def fingerprints_for(
    policy: str, profile: str, options: ReadOptions
) -> Callable[[str], Fingerprints]:
    """The fingerprints of a document by its key. The function raises ReadError."""

    def of(key: str) -> Fingerprints:
        return Fingerprints(reader_fingerprint(key, options), policy, profile)

    return of
