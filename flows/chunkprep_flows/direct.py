"""Running batches without Prefect: here, in threads, or in processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from multiprocessing import get_context

from chunkprep_flows.batch import BatchOrder, run_batch
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import (
    deaf_children,
    follow,
    graceful_stop,
    passed_on,
    stop_asked,
)
from chunkprep_flows.pipeline import Progress, RunBatches, ingest
from chunkprep_flows.plan import Work
from chunkprep_ingest.errors import RequestError


def ingest_directly(settings: IngestSettings, progress: Progress) -> IngestReport:
    """One run in this process and its workers, with no Prefect."""
    with graceful_stop():
        return ingest(settings, runner_for(settings), progress)


def runner_for(settings: IngestSettings) -> RunBatches:
    """The runner that the settings name. Raises RequestError for Dask, which needs Prefect."""
    if settings.runner == "dask":
        raise RequestError("runner dask needs Prefect; leave out --direct", "runner")
    if settings.workers == 1 and settings.runner == "thread":
        return run_here
    if settings.runner == "thread":
        return lambda order, work: run_in(
            ThreadPoolExecutor(settings.workers), settings, order, work
        )

    def in_processes(
        order: BatchOrder, work: Sequence[tuple[Work, ...]]
    ) -> Iterator[list[DocumentOutcome]]:
        with passed_on() as stop:
            pool = ProcessPoolExecutor(
                settings.workers, get_context("spawn"), initializer=follow, initargs=(stop,)
            )
            yield from run_in(pool, settings, order, work)

    return in_processes


def run_here(
    order: BatchOrder, work: Sequence[tuple[Work, ...]]
) -> Iterator[list[DocumentOutcome]]:
    """One batch after the other, in this thread."""
    for batch in work:
        if stop_asked():
            return
        yield run_batch(order, batch, stop_asked)


def run_in(
    pool: Executor, settings: IngestSettings, order: BatchOrder, work: Sequence[tuple[Work, ...]]
) -> Iterator[list[DocumentOutcome]]:
    """Batches in a pool, two for each worker under way at a time, so that a stop is quick."""
    with pool:
        pending: set[Future[list[DocumentOutcome]]] = set()
        for batch in work:
            if stop_asked():
                break
            with deaf_children():  # it may start a worker
                pending.add(pool.submit(run_batch, order, batch, stop_asked))
            if len(pending) >= 2 * settings.workers:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        for future in pending:
            yield future.result()
