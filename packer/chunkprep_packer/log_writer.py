"""The pack log's writer: a bounded queue and one thread, so that requests do not wait for writes
while these keep up.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Literal

from chunkprep_ingest.errors import UnavailableError
from chunkprep_store import PackRecord
from chunkprep_store.own_process import OwnProcess

Write = Callable[[str, Sequence[PackRecord]], None]
Outcome = Literal["written", "refused", "away"]

_LONGEST = 300  # characters of an error in a warning
_CLOSED = "the packer is closed; pack before `close`"
_FULL = "the store did not keep up; give it more room, or log in sync mode"
_PAUSES = (0.05, 0.5, 2.0)  # seconds before each further try of a write that failed


class LogWriter:
    """Writes records in batches of at most `batch`, about every `interval` seconds: a page of a
    long log's indexes is written once for all its rows in a batch.

    At most `capacity` records wait. Who brings a further one waits for room for at most `patience`
    seconds; then it is lost, and counted. Everything waiting is written by `close`, and at exit.
    """

    def __init__(
        self,
        write: Write,
        *,
        capacity: int = 3_000,
        batch: int = 500,
        interval: float = 0.5,
        patience: float = 2.0,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        self._write = write
        self._capacity = capacity
        self._batch = batch
        self._interval = interval
        self._patience = patience
        self._pauses = pauses
        self._process = OwnProcess()  # a forked one has a copy of what waits, and no thread
        self._waiting: deque[tuple[str, PackRecord]] = deque()
        self._change = threading.Condition()
        self._queued = 0  # records ever taken
        self._settled = 0  # of these: written, or lost
        self._lost = 0
        self._lost_before = 0  # records lost before the last `take_lost`
        self._why_lost = ""  # of the latest
        self._hurry = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, collection: str, record: PackRecord) -> bool:
        """Queue a record; False where it is lost because too many are waiting."""
        with self._change:
            if self.full:
                self._change.wait_for(lambda: self._closed or not self.full, self._patience)
            if self._closed or self.full:
                self._lost += 1
                self._why_lost = _CLOSED if self._closed else _FULL
                return False
            self._waiting.append((collection, record))
            self._queued += 1
            if self._thread is None:
                self._start()
            if len(self._waiting) in (1, self._batch):
                self._change.notify_all()
        return True

    def lose(self, why: str) -> None:
        """Count a record that could not be made."""
        with self._change:
            self._lost += 1
            self._why_lost = why

    @property
    def why_lost(self) -> str:
        """Why the latest of the lost records was lost."""
        return self._why_lost

    @property
    def full(self) -> bool:
        """Whether a further record would have to wait for room."""
        return self._queued - self._settled >= self._capacity

    def take_lost(self) -> int:
        """Records lost since the last call."""
        if not self._lost:
            return 0
        with self._change:
            lost, self._lost = self._lost, 0
            self._lost_before += lost
        return lost

    @property
    def losses(self) -> int:
        """Records lost since the writer began. Raises StoreError in a forked process."""
        self._process.require()
        with self._change:
            return self._lost_before + self._lost

    def flush(self) -> None:
        """Wait until everything queued so far is written, or lost. Raises StoreError in a forked
        process.
        """
        self._process.require()
        with self._change:
            self._hurry += 1
            self._change.notify_all()
            target = self._queued
            self._change.wait_for(lambda: self._settled >= target)
            self._hurry -= 1

    def close(self) -> None:
        """Write what is waiting and end the thread. Records that come later are lost."""
        if not self._process.here():
            return
        with self._change:
            self._closed = True
            thread, self._thread = self._thread, None
            self._change.notify_all()
        if thread is not None:
            thread.join()
            atexit.unregister(self.close)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="chunkprep-log", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def _run(self) -> None:
        while batch := self._next():
            self._write_batch(batch)
            with self._change:
                self._settled += len(batch)
                self._change.notify_all()

    def _next(self) -> list[tuple[str, PackRecord]]:
        """The next batch, when it is full, or its time has come; nothing once closed and empty."""
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._closed)
            self._change.wait_for(
                lambda: len(self._waiting) >= self._batch or self._hurry or self._closed,
                self._interval,
            )
            size = min(self._batch, len(self._waiting))
            return [self._waiting.popleft() for _ in range(size)]

    def _write_batch(self, batch: Sequence[tuple[str, PackRecord]]) -> None:
        records: dict[str, list[PackRecord]] = defaultdict(list)
        for collection, record in batch:
            records[collection].append(record)
        lost = sum(self._write_all(name, found) for name, found in records.items())
        if lost:
            with self._change:
                self._lost += lost

    def _write_all(self, collection: str, records: Sequence[PackRecord]) -> int:
        """Write the records, together or else each by itself; how many were lost.

        While the database is away nothing is packed either, so that what waits is waited with,
        unless somebody waits for the writer.
        """
        pauses = deque(self._pauses)
        while pauses:
            outcome = self._tried(collection, records)
            if outcome == "written":
                return 0
            if not self._closed:
                time.sleep(pauses[0])
            if outcome == "refused" or len(pauses) > 1 or self._hurry or self._closed:
                pauses.popleft()
        outcomes = [self._tried(collection, [record]) for record in records]
        return len(records) - outcomes.count("written")

    def _tried(self, collection: str, records: Sequence[PackRecord]) -> Outcome:
        try:
            self._write(collection, records)
        except UnavailableError as error:
            self._why_lost = one_line(error)
            return "away"
        except Exception as error:
            self._why_lost = one_line(error)
            return "refused"
        return "written"


def one_line(error: Exception) -> str:
    """What an error says, without its line breaks, cut where it is long."""
    return " ".join(str(error).split())[:_LONGEST] or type(error).__name__
