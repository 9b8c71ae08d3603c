"""Reader processes of this process: borrowed for a file, reused, ended together."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chunkprep_ingest.reading_process import IsolatedReader


class ReaderPool:
    """Idle reader processes; as many run as files are read at the same time.

    Safe to share between threads. `close` ends the idle ones, and may be called again.
    """

    def __init__(self) -> None:
        self._idle: list[IsolatedReader] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self) -> Iterator[IsolatedReader]:
        """A reader for one file; nobody else has it meanwhile."""
        with self._lock:
            reader = self._idle.pop() if self._idle else IsolatedReader()
        try:
            yield reader
        finally:
            with self._lock:
                self._idle.append(reader)

    def close(self) -> None:
        """End the processes that nobody is using."""
        with self._lock:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()


READERS = ReaderPool()
"""One pool for each process: batches come one after the other, in any thread."""

atexit.register(READERS.close)  # worker processes end without a last batch
