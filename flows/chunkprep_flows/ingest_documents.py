"""The Prefect flows `ingest_documents` and `sync`: the pipeline's own functions, a task per batch.

Deploy them by their module entry points, `chunkprep_flows.ingest_documents.ingest_documents` and
`chunkprep_flows.ingest_documents.sync`.
"""

from __future__ import annotations

from typing import Any

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from chunkprep_flows.batch_tasks import batches_as_tasks
from chunkprep_flows.collection_limit import one_at_a_time
from chunkprep_flows.flow_control import Control, tag_collection, this_flow_run, to_its_end
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.pipeline import ingest
from chunkprep_flows.progress import Logged, listener
from chunkprep_flows.served_runs import told_when_served
from chunkprep_flows.step_tasks import step_as_task
from chunkprep_flows.wording import counted

ARTIFACT = "chunkprep-ingest"
SUMMARY = "chunkprep-ingest-run"
SHOWN = 200
"""Rows of the artifact, failures first; chunkprep's own tables hold them all."""


@flow(name="ingest-documents", persist_result=False)
def ingest_documents(settings: IngestSettings) -> IngestReport:
    """Ingest what the settings name, and leave a table of what happened.

    A run that is stopped before its end is Cancelled; calling it raises StoppedRunError, or, where
    nothing was done yet, StoppedError.
    """
    returned: IngestReport = to_its_end(lambda c: _told_and_shown("ingest-documents", settings, c))
    return returned


@flow(name="sync", persist_result=False)
def sync(settings: IngestSettings) -> IngestReport:
    """Ingest, and withdraw what is gone from the folders named; stopped as `ingest_documents`."""
    asked = settings.model_copy(update={"sync": True})
    returned: IngestReport = to_its_end(lambda c: _told_and_shown("sync", asked, c))
    return returned


def _told_and_shown(
    flow_name: str, settings: IngestSettings, control: Control
) -> tuple[IngestReport, str]:
    """The run itself, and its result in words.

    Dask's workers have a working directory of their own, so that they get no relative path.
    """
    located = settings.absolute()
    asked = located if settings.runner == "dask" else settings
    logger = get_run_logger()
    tag_collection(located.collection)
    with told_when_served(flow_name) as told:
        with one_at_a_time(located.store, located.collection):
            report = ingest(
                asked,
                batches_as_tasks(asked, control),
                Logged(listener(), logger, alone=told.served),
                step=step_as_task,
                flow_run=this_flow_run(),
            )
        said = f"{report.headline}; {report.how_stopped}" if report.stopped else report.headline
        told.say("; ".join([said, *report.warnings]))
        leave_artifacts(report)
    logger.info("run %s: %s", report.run_id, said)
    return report, said


def leave_artifacts(report: IngestReport) -> None:
    """A table of what changed, and a page of the sums; both name the run's record in the store."""
    run = f"Run `{report.run_id}` of collection `{report.collection}`. {report.headline}."
    create_table_artifact(key=ARTIFACT, table=artifact_rows(report), description=run)
    create_markdown_artifact(key=SUMMARY, markdown=summary_page(report))


def summary_page(report: IngestReport) -> str:
    """The run in Markdown: its record's id, its sums, its warnings."""
    words = report.boilerplate_words
    sums = [
        f"- chunks written: {report.chunks_written:,} ({report.tokens_written:,} tokens)",
        *([f"- boilerplate left out: {counted(words, 'word')}"] if words else []),
        *([f"- not read, because the run was stopped: {report.left:,}"] if report.stopped else []),
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
