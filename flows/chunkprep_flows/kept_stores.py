"""The stores that this process keeps open from one batch to the next."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chunkprep_flows.interrupt import stop_asked
from chunkprep_store import Store


class StorePool:
    """Open stores that nobody is using. Opening one checks its schema and forgets what the
    database had made ready of our statements: more than a batch of small documents costs.

    Safe to share between threads. `close` closes the idle ones, and may be called again.
    """

    def __init__(self) -> None:
        self._idle: list[tuple[str, Store]] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, url: str) -> Iterator[Store]:
        """The store at `url` for one batch; nobody else has it meanwhile. One whose batch failed
        is closed. Raises StoreError where there is none.
        """
        store = self._taken(url) or Store.open(url, create=False, hurried=stop_asked)
        try:
            yield store
        except BaseException:
            store.close()
            raise
        with self._lock:
            self._idle.append((url, store))

    def _taken(self, url: str) -> Store | None:
        with self._lock:
            for at, (known, store) in enumerate(self._idle):
                if known == url:
                    del self._idle[at]
                    return store
        return None

    def close(self) -> None:
        """Close the stores that nobody is using."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, store in idle:
            store.close()


STORES = StorePool()
"""One pool for each process: batches come one after the other, in any thread."""

atexit.register(STORES.close)  # worker processes end without a last batch
