"""When each collection was last ingested whole, as a figure that no outage of the store delays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from chunkprep_ingest.errors import ChunkprepError
from chunkprep_packer.collection_freshness import collection_freshness
from chunkprep_store import Store

ASK_SECONDS = 15.0
"""How old the figures may be: anybody may ask for them, and a large store takes a second."""

PATIENCE_SECONDS = 2.0
"""How long a store is waited for that does not answer: a scrape gives up after ten."""


class LastWhole:
    """The figures of one worker process. Safe to share between threads."""

    def __init__(
        self, *, patience: float = PATIENCE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: float | None = None
        self._asking: threading.Thread | None = None
        self._known: Mapping[str, float] = {}

    def figures(self, store: Callable[[], Store]) -> Mapping[str, float]:
        """By collection the moment (seconds since 1970, UTC) when the ingest ended that last looked
        at it whole; 0 where none did; nothing at all while the store is away.
        """
        with self._lock:
            asking = self._asking
            if (asking is None or not asking.is_alive()) and self._is_old():
                self._asked = self._clock()
                asking = threading.Thread(target=self._ask, args=(store,), daemon=True)
                asking.start()
                self._asking = asking
        if asking is not None:
            asking.join(self._patience)
            if asking.is_alive():
                return {}
        return self._known

    def _is_old(self) -> bool:
        return self._asked is None or self._clock() - self._asked > ASK_SECONDS

    def _ask(self, store: Callable[[], Store]) -> None:
        self._known = {}
        try:
            opened = store()
            self._known = {name: _seconds(opened, name) for name in opened.collections()}
        except ChunkprepError:
            return


def _seconds(store: Store, collection: str) -> float:
    run = collection_freshness(store, collection).whole
    return 0.0 if run is None else (run.finished_at or 0) / 1_000_000
