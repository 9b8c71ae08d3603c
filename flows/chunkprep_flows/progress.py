"""How a run gets on, shown on stderr; the flow finds its listener in the context."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from chunkprep_flows.console import console
from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_flows.pipeline import Progress as Listener

LOG_SECONDS = 10.0
MOST_NAMED = 50
"""Documents that a log names as failed; the run's table and `chunkprep failures` hold them all."""


class Log(Protocol):
    """What of a logger is used."""

    def log(self, level: int, msg: str, *args: object) -> None:
        """Log at a level."""
        ...


class Silent:
    """Hears nothing."""

    def looked(self) -> None:
        """Ignore it."""

    def started(self, documents: int) -> None:
        """Ignore it."""

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """Ignore it."""


class Bar:
    """A bar on a terminal."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("comparing", total=None)

    def looked(self) -> None:
        """One more file compared."""
        self._bar.advance(self._task)

    def started(self, documents: int) -> None:
        """The number of documents to read is known."""
        self._bar.reset(self._task, description="ingesting", total=documents)

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """Some documents are finished."""
        self._bar.advance(self._task, len(outcomes))


class Logged:
    """Tells a log, now and then, what it passes on to another listener.

    A document that failed is a warning where nobody else tells of it (`alone`).
    """

    def __init__(self, other: Listener, log: Log, *, alone: bool) -> None:
        self._other, self._log = other, log
        self._level = logging.WARNING if alone else logging.INFO
        self._total = self._done = self._failed = 0
        self._next = time.monotonic() + LOG_SECONDS

    def looked(self) -> None:
        """One more file compared."""
        self._other.looked()

    def started(self, documents: int) -> None:
        """The number of documents to read is known."""
        self._total = documents
        self._log.log(logging.INFO, "%d documents to read", documents)
        self._other.started(documents)

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """Some documents are finished; those that failed are named."""
        self._other.done(outcomes)
        self._done += len(outcomes)
        for outcome in outcomes:
            if outcome.error is not None:
                self._failed += 1
                if self._failed <= MOST_NAMED:
                    code, message = outcome.error["code"], outcome.error["message"]
                    self._log.log(self._level, "%s: %s: %s", outcome.document, code, message)
        if time.monotonic() >= self._next:
            self._log.log(logging.INFO, "%d of %d documents", self._done, self._total)
            self._next = time.monotonic() + LOG_SECONDS


_listener: ContextVar[Listener] = ContextVar("listener", default=Silent())  # noqa: B039 - stateless


def listener() -> Listener:
    """Who listens to runs in this context."""
    return _listener.get()


@contextmanager
def shown_progress() -> Iterator[Listener]:
    """A bar on stderr where that is a terminal, and nothing where it is not."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        token = _listener.set(found := Bar(bar))
        try:
            yield found
        finally:
            _listener.reset(token)
