"""Dask's workers as Prefect's task runner: started for the run, or a cluster that runs already.

They hear of a stop by an event that the scheduler keeps, so that workers who join later do too.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, cast
from uuid import uuid4

from prefect.task_runners import TaskRunner

from chunkprep_flows.ingest_settings import IngestSettings, refuse_unshared_store
from chunkprep_flows.interrupt import breakable, deaf_children, when_asked
from chunkprep_ingest.errors import UnavailableError

ASK_SECONDS = 0.2
"""How often a worker asks the scheduler, at most: between two documents."""


def dask_runner(settings: IngestSettings) -> TaskRunner[Any]:
    """A runner on the scheduler at `dask_address`, else on `workers` processes started for the run.

    A worker that dies loses nothing: Dask gives its batch to another one, and what it had written
    of it already is found unchanged. Raises RequestError as `refuse_unshared_store` does.
    """
    refuse_unshared_store(settings)
    from prefect_dask.task_runners import DaskTaskRunner

    if settings.dask_address is not None:
        return DaskTaskRunner(address=settings.dask_address)
    cluster = {
        "n_workers": settings.workers,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "preload": [__name__],
    }
    return DaskTaskRunner(cluster_kwargs=cluster)


def dask_setup(_worker: object) -> None:
    """Called by Dask in each worker that is started for a run: Ctrl-C, which a terminal sends to
    all of them, is the run's to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def dask_workers(settings: IngestSettings) -> Iterator[tuple[TaskRunner[Any], str]]:
    """The runner, and the name of an event on its scheduler, set soon after this process is asked
    to stop.

    A cluster of our own is only closed once it is up: Dask cannot give up a start. Raises
    StoppedError where somebody asks for a stop while another one does not answer.
    """
    ours = settings.dask_address is None
    name = f"chunkprep-stop-{uuid4().hex}"
    with ExitStack() as held:
        with deaf_children() if ours else breakable("the Dask cluster was waited for"):
            runner = held.enter_context(dask_runner(settings))
            event = _event(name, _client(runner, settings))
        held.enter_context(_set_when_asked(event))
        yield runner, name


def _client(runner: TaskRunner[Any], settings: IngestSettings) -> Any:
    """The runner's connection. Raises UnavailableError where no scheduler answers."""
    try:
        return cast(Any, runner).client
    except OSError as error:
        if settings.dask_address is None:
            raise
        raise UnavailableError(
            f"the Dask scheduler at {settings.dask_address} does not answer; start it, check "
            f"--dask-address, or leave it out for workers of this machine"
        ) from error


@contextmanager
def _set_when_asked(event: Any) -> Iterator[None]:
    with when_asked(event.set):
        yield
    if event.is_set():
        event.clear()  # the scheduler forgets it


def _event(name: str, client: Any = None) -> Any:
    import distributed

    return cast(Any, distributed).Event(name, client=client)


class StopHeard:
    """In a worker: whether the event of this name was set."""

    def __init__(self, name: str) -> None:
        self._event = _event(name)
        self._next = 0.0
        self._heard = False

    def __call__(self) -> bool:
        """Whether somebody asked the run to stop, as far as the scheduler can say."""
        if not self._heard and time.monotonic() >= self._next:
            with suppress(OSError):  # it is away: Dask gives the batch to somebody else, or nobody
                self._heard = bool(self._event.is_set())
            self._next = time.monotonic() + ASK_SECONDS
        return self._heard
