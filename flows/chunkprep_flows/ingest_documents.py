"""The Prefect flows `ingest_documents` and `sync`: the pipeline's own functions, a task per batch.

Deploy them by their module entry points, `chunkprep_flows.ingest_documents.ingest_documents` and
`chunkprep_flows.ingest_documents.sync`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Event
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from chunkprep_flows.batch import BatchOrder, run_batch
from chunkprep_flows.collection_limit import one_at_a_time
from chunkprep_flows.dask_workers import dask_runner
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import follow, graceful_stop, passed_on, stop_asked
from chunkprep_flows.pipeline import RunBatches, ingest
from chunkprep_flows.plan import Work
from chunkprep_flows.progress import listener
from chunkprep_flows.served_runs import told_when_served
from chunkprep_flows.transient import DELAYS, RETRIES, is_transient

ARTIFACT = "chunkprep-ingest"
SUMMARY = "chunkprep-ingest-run"
SHOWN = 200
"""Rows of the artifact, failures first; chunkprep's own tables hold them all."""


@flow(name="ingest-documents", persist_result=False)
def ingest_documents(settings: IngestSettings) -> IngestReport:
    """Ingest what the settings name, and leave a table of what happened."""
    return _told_and_shown("ingest-documents", settings)


@flow(name="sync", persist_result=False)
def sync(settings: IngestSettings) -> IngestReport:
    """Ingest, and withdraw what is gone from the folders named."""
    return _told_and_shown("sync", settings.model_copy(update={"sync": True}))


def _told_and_shown(flow_name: str, settings: IngestSettings) -> IngestReport:
    """The run itself.

    A signal to stop is heard in here: Prefect sets its own handlers around a flow's body. Dask's
    workers have a working directory of their own, so that they get no relative path.
    """
    located = settings.absolute()
    asked = located if settings.runner == "dask" else settings
    with told_when_served(flow_name) as told:
        with graceful_stop(), one_at_a_time(located.store, located.collection):
            report = ingest(asked, batches_as_tasks(asked), listener())
        told.say("; ".join([report.headline, *report.warnings]))
        leave_artifacts(report)
    get_run_logger().info("run %s: %s", report.run_id, report.headline)
    return report


class BatchJob:
    """A task's one parameter, of a kind that neither Prefect nor Dask looks into or takes apart."""

    def __init__(self, order: BatchOrder, batch: tuple[Work, ...]) -> None:
        self.order = order
        self.batch = batch


@task(
    name="ingest-batch",
    cache_policy=NO_CACHE,
    persist_result=False,
    retry_delay_seconds=DELAYS,
    retry_condition_fn=is_transient,
    **RETRIES,
)
def ingest_batch(job: BatchJob) -> list[DocumentOutcome]:
    """Ingest one batch of documents."""
    return run_batch(job.order, job.batch, stop_asked)


def batches_as_tasks(settings: IngestSettings) -> RunBatches:
    """A runner that makes each batch a task, some for each worker under way at a time."""

    def run(order: BatchOrder, work: Sequence[tuple[Work, ...]]) -> Iterator[list[DocumentOutcome]]:
        pending: deque[PrefectFuture[Any]] = deque()
        with passed_on() as stop, task_runner(settings, stop) as runner:
            for batch in work:
                if stop_asked():
                    break
                pending.append(runner.submit(ingest_batch, {"job": BatchJob(order, batch)}))
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
    return dask_runner(settings)


def leave_artifacts(report: IngestReport) -> None:
    """A table of what changed, and a page of the sums; both name the run's record in the store."""
    run = f"Run `{report.run_id}` of collection `{report.collection}`. {report.headline}."
    create_table_artifact(key=ARTIFACT, table=artifact_rows(report), description=run)
    create_markdown_artifact(key=SUMMARY, markdown=summary_page(report))


def summary_page(report: IngestReport) -> str:
    """The run in Markdown: its record's id, its sums, its warnings."""
    sums = [
        f"- chunks written: {report.chunks_written:,} ({report.tokens_written:,} tokens)",
        f"- seconds: {report.seconds:.1f}",
        *(f"- warning: {warning}" for warning in report.warnings),
    ]
    run = f"Run `{report.run_id}` of collection `{report.collection}`: {report.headline}."
    return "\n".join([run, "", *sums, ""])


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
