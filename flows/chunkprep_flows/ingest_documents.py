"""The Prefect flow `ingest_documents`: the pipeline's own functions, one task per batch.

Deploy it by its module entry point, `chunkprep_flows.ingest_documents.ingest_documents`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Event
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner
from prefect.utilities.annotations import quote

from chunkprep_flows.batch import BatchOrder, run_batch
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import follow, graceful_stop, passed_on, stop_asked
from chunkprep_flows.pipeline import RunBatches, ingest
from chunkprep_flows.plan import Work
from chunkprep_flows.progress import listener
from chunkprep_flows.served_runs import told_when_served

ARTIFACT = "chunkprep-ingest"
SHOWN = 200
"""Rows of the artifact, failures first; chunkprep's own tables hold them all."""


@flow(name="ingest-documents", persist_result=False)
def ingest_documents(settings: IngestSettings) -> IngestReport:
    """Ingest what the settings name, and leave a table of what happened.

    A signal to stop is heard in here: Prefect sets its own handlers around a flow's body.
    """
    with told_when_served("ingest-documents") as told:
        with graceful_stop():
            report = ingest(settings, batches_as_tasks(settings), listener())
        told.say("; ".join([report.headline, *report.warnings]))
        create_table_artifact(
            key=ARTIFACT,
            table=artifact_rows(report),
            description=(
                f"Run `{report.run_id}` of collection `{report.collection}`. {report.headline}."
            ),
        )
    get_run_logger().info("run %s: %s", report.run_id, report.headline)
    return report


@task(name="ingest-batch", cache_policy=NO_CACHE, persist_result=False)
def ingest_batch(order: BatchOrder, batch: tuple[Work, ...]) -> list[DocumentOutcome]:
    """Ingest one batch of documents."""
    return run_batch(order, batch, stop_asked)


def batches_as_tasks(settings: IngestSettings) -> RunBatches:
    """A runner that makes each batch a task, some for each worker under way at a time."""

    def run(order: BatchOrder, work: Sequence[tuple[Work, ...]]) -> Iterator[list[DocumentOutcome]]:
        pending: deque[PrefectFuture[Any]] = deque()
        with passed_on() as stop, task_runner(settings, stop) as runner:
            for batch in work:
                if stop_asked():
                    break
                parameters = {"order": quote(order), "batch": quote(batch)}
                pending.append(runner.submit(ingest_batch, parameters))
                if len(pending) > 3 * settings.workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    return run


def task_runner(settings: IngestSettings, stop: Event) -> TaskRunner[Any]:
    """Prefect's task runner of the settings' kind and size; its processes follow `stop`."""
    if settings.runner == "thread":
        return ThreadPoolTaskRunner(max_workers=settings.workers)
    if settings.runner == "process":
        return ProcessPoolTaskRunner(
            max_workers=settings.workers, initializer=follow, initargs=(stop,)
        )
    from prefect_dask.task_runners import DaskTaskRunner

    if settings.dask_address is not None:
        return DaskTaskRunner(address=settings.dask_address)
    return DaskTaskRunner(cluster_kwargs={"n_workers": settings.workers, "threads_per_worker": 1})


def artifact_rows(report: IngestReport) -> list[dict[str, Any]]:
    """What changed and what failed, failures first; at most SHOWN rows."""
    told = [o for o in report.documents if o.outcome != "unchanged"]
    told.sort(key=lambda o: o.outcome != "failed")
    return [
        {
            "document": o.document,
            "outcome": o.outcome,
            "version": o.version,
            "chunks": o.chunks,
            "coverage": o.coverage,
            "error": None if o.error is None else f"{o.error['code']}: {o.error['message']}",
        }
        for o in told[:SHOWN]
    ]
