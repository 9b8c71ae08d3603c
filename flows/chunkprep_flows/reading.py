"""How a run reads its files, and the reader processes of this process that do it."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_ingest.readers import ReadOptions
from chunkprep_ingest.readers.options import MEBIBYTE
from chunkprep_ingest.reading_process import IsolatedReader, ReadLimits


@dataclass(frozen=True, slots=True)
class Reading:
    """What every reader of a run is told, and what one file may take."""

    options: ReadOptions = field(default_factory=ReadOptions)
    limits: ReadLimits = field(default_factory=ReadLimits)


def reading_of(settings: IngestSettings) -> Reading:
    """How the settings want files read. Raises ChunkprepError for an unknown encoding."""
    memory = settings.read_memory * MEBIBYTE
    limits = ReadLimits(
        seconds=settings.read_seconds,
        memory_bytes=memory,
        recycle_bytes=min(memory, ReadLimits().recycle_bytes),
    )
    options = ReadOptions(
        fallback_encoding=settings.fallback_encoding,
        keep_boilerplate=not settings.drop_boilerplate,
    )
    return Reading(options, limits)


class ReaderPool:
    """Idle reader processes; as many run as files are read at the same time.

    Safe to share between threads. `close` ends the idle ones, and may be called again.
    """

    def __init__(self) -> None:
        self._idle: list[IsolatedReader] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, limits: ReadLimits) -> Iterator[IsolatedReader]:
        """A reader with these limits for one file; nobody else has it meanwhile."""
        reader = self._taken(limits) or IsolatedReader(limits)
        try:
            yield reader
        finally:
            with self._lock:
                self._idle.append(reader)

    def _taken(self, limits: ReadLimits) -> IsolatedReader | None:
        with self._lock:
            for at, reader in enumerate(self._idle):
                if reader.limits == limits:
                    return self._idle.pop(at)
        return None

    def close(self) -> None:
        """End the processes that nobody is using."""
        with self._lock:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()


READERS = ReaderPool()
"""One pool for each process: batches come one after the other, in any thread."""

atexit.register(READERS.close)  # worker processes end without a last batch
