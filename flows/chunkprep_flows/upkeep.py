"""The Prefect flows `recount` and `prune`: a collection kept in order on a schedule.

Deploy them by their module entry points, `chunkprep_flows.upkeep.recount` and
`chunkprep_flows.upkeep.prune`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from chunkprep_flows.collection_limit import one_at_a_time
from chunkprep_flows.flow_control import Control, tag_collection, this_flow_run, to_its_end
from chunkprep_flows.opened import now, opened
from chunkprep_flows.pruning import PruneReport, prune_collection
from chunkprep_flows.recounting import RecountReport, recount_collection
from chunkprep_flows.served_runs import told_when_served
from chunkprep_flows.step_tasks import step_as_task
from chunkprep_flows.unfinished import recorded_end
from chunkprep_flows.upkeep_settings import PruneSettings, RecountSettings
from chunkprep_store import Store


@flow(name="recount", persist_result=False)
def recount(settings: RecountSettings) -> RecountReport:
    """Price a collection's chunks in a further encoding; ids and texts stay, no file is read.

    A run that is stopped before its end is Cancelled; calling it raises StoppedRunError, or, where
    nothing was done yet, StoppedError. The next run goes on.
    """

    def work(store: Store) -> RecountReport:
        return recount_collection(store, settings.collection, settings.encoding)

    def run(_control: Control) -> tuple[Any, str]:
        job = _Job("recount", "recount-prices", work, asdict)
        run_id, done, said = _recorded(job, settings)
        leave_artifacts("recount", settings.collection, run_id, said, asdict(done))
        return done, said

    returned: RecountReport = to_its_end(run)
    return returned


@flow(name="prune", persist_result=False)
def prune(settings: PruneSettings) -> PruneReport:
    """Remove superseded and withdrawn versions and old pack logs; stopped as `recount`."""

    def work(store: Store) -> PruneReport:
        return prune_collection(
            store,
            settings.collection,
            older_than=settings.older_than,
            packs=settings.packs,
            even_if_logged=settings.even_if_logged,
        )

    def run(_control: Control) -> tuple[Any, str]:
        job = _Job("prune", "prune-versions", work, PruneReport._asdict)
        run_id, done, said = _recorded(job, settings)
        leave_artifacts("prune", settings.collection, run_id, said, done._asdict())
        return done, said

    returned: PruneReport = to_its_end(run)
    return returned


class _Job(NamedTuple):
    """What a flow does: the kind of its record, the name of its task, and what it has to say."""

    kind: str
    task: str
    work: Callable[[Store], Any]
    summary: Callable[[Any], dict[str, Any]]


def _recorded(job: _Job, settings: RecountSettings | PruneSettings) -> tuple[str, Any, str]:
    """The id of the run's record, what the work gave, and that in words. A second try of its task
    goes on where the first one was, with the same record.
    """
    collection = settings.collection
    asked = settings.model_dump(mode="json", exclude={"store"})
    begun: list[str] = []
    flow_run = this_flow_run()

    def attempt() -> Any:
        with opened(settings.store) as store:
            store.collection_id(collection)  # a run's record would make a collection
            if not begun:
                begun.append(
                    store.start_run(
                        collection,
                        now=now(),
                        kind=job.kind,
                        settings=asked,
                        flow_run_id=flow_run.id,
                    )
                )
            with recorded_end(store, begun[0]):
                done = job.work(store)
                store.finish_run(
                    begun[0], now=now(), summary={**job.summary(done), "flow_run_url": flow_run.url}
                )
            return done

    tag_collection(collection)
    with told_when_served(job.kind) as told:
        with one_at_a_time(settings.located(), collection):
            done = step_as_task(job.task, attempt)
        said = done.headline + ("; stopped" if done.stopped else "")
        told.say(said)
    return begun[0], done, said


def leave_artifacts(
    kind: str, collection: str, run_id: str, headline: str, figures: Mapping[str, Any]
) -> None:
    """A table of the figures, and a page that leads from Prefect's run to chunkprep's record."""
    rows = [{"figure": name, "value": str(value)} for name, value in figures.items()]
    create_table_artifact(key=f"chunkprep-{kind}", table=rows, description=headline)
    create_markdown_artifact(
        key=f"chunkprep-{kind}-run", markdown=run_page(collection, run_id, headline)
    )
    get_run_logger().info("run %s: %s", run_id, headline)


def run_page(collection: str, run_id: str, headline: str) -> str:
    """Markdown that names the record of a run in the store."""
    return f"Run `{run_id}` of collection `{collection}`: {headline}.\n"
