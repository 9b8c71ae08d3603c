"""Batches of documents as Prefect tasks: in threads, in processes, or on Dask's workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import Pause
from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from chunkprep_flows.batch import BatchOrder, run_batch
from chunkprep_flows.dask_workers import StopHeard, dask_workers
from chunkprep_flows.flow_control import Control
from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import (
    StoppedError,
    deaf_children,
    follow,
    passed_on,
    stop_asked,
)
from chunkprep_flows.pipeline import RunBatches
from chunkprep_flows.plan import Work
from chunkprep_flows.transient import RETRIES, patiently


class BatchJob:
    """A task's one parameter, of a kind that neither Prefect nor Dask looks into or takes apart.

    `stop` names the event that a worker of Dask asks for. `outcomes` is what the batch gave, where
    it ran in this process.
    """

    def __init__(self, order: BatchOrder, batch: tuple[Work, ...], stop: str | None) -> None:
        self.order = order
        self.batch = batch
        self.stop = stop
        self.outcomes: list[DocumentOutcome] = []


class Workers(NamedTuple):
    """A task runner that is running, and the name of the event that its workers ask for."""

    runner: TaskRunner[Any]
    stop: str | None


@task(name="ingest-batch", cache_policy=NO_CACHE, persist_result=False, **RETRIES)
def ingest_batch(job: BatchJob) -> list[DocumentOutcome]:
    """Ingest one batch of documents; none where somebody asks for a stop while it waits."""
    heard = stop_asked if job.stop is None else StopHeard(job.stop)
    with suppress(StoppedError):
        job.outcomes = patiently("a batch", lambda: run_batch(job.order, job.batch, heard), heard)
    return job.outcomes


def batches_as_tasks(settings: IngestSettings, control: Control) -> RunBatches:
    """A runner that makes each batch a task, some for each worker under way at a time; none is
    begun while the flow run is paused.
    """

    def run(order: BatchOrder, work: Sequence[tuple[Work, ...]]) -> Iterator[list[DocumentOutcome]]:
        pending: deque[tuple[BatchJob, PrefectFuture[Any]]] = deque()
        if not work:
            return
        with workers_of(settings) as workers:
            for batch in work:
                control.wait_while_paused()
                if stop_asked():
                    break
                job = BatchJob(order, batch, workers.stop)
                try:
                    with deaf_children():  # it may start a worker
                        pending.append((job, workers.runner.submit(ingest_batch, {"job": job})))
                except Pause as suspended:
                    control.hear(suspended.state)
                    break
                if len(pending) > 3 * settings.workers:
                    yield _outcomes(*pending.popleft(), control)
            while pending:
                yield _outcomes(*pending.popleft(), control)

    return run


def _outcomes(job: BatchJob, future: PrefectFuture[Any], control: Control) -> list[DocumentOutcome]:
    """What a batch gave. A flow run that is suspended meanwhile is stopped: what was begun is
    finished, though Prefect forgets what a thread's task returned.
    """
    try:
        outcomes: list[DocumentOutcome] = future.result()
    except Pause as suspended:
        control.hear(suspended.state)
        state: Any = future.state
        outcomes = state.result() if state.is_completed() else job.outcomes
    return outcomes


@contextmanager
def workers_of(settings: IngestSettings) -> Iterator[Workers]:
    """Prefect's task runner of the settings' kind and size; its workers hear of a stop."""
    if settings.runner == "thread":
        threads: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=settings.workers)
        with threads:
            yield Workers(threads, None)
    elif settings.runner == "process":
        with ExitStack() as held:
            stop = held.enter_context(passed_on())
            processes = ProcessPoolTaskRunner(
                max_workers=settings.workers, initializer=follow, initargs=(stop,)
            )
            with deaf_children():
                held.enter_context(processes)
            yield Workers(processes, None)
    else:
        with dask_workers(settings) as (dask, name):
            yield Workers(dask, name)
