"""How a run gets on, shown on stderr; the flow finds its listener in the context."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

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
