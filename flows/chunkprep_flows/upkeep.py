"""The Prefect flows `recount` and `prune`: a collection kept in order on a schedule.

Deploy them by their module entry points, `chunkprep_flows.upkeep.recount` and
`chunkprep_flows.upkeep.prune`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from chunkprep_flows.collection_limit import one_at_a_time
from chunkprep_flows.flow_control import tag_collection
from chunkprep_flows.interrupt import graceful_stop
from chunkprep_flows.opened import now, opened
from chunkprep_flows.pruning import prune_collection
from chunkprep_flows.recounting import RecountReport, recount_collection
from chunkprep_flows.served_runs import told_when_served
from chunkprep_flows.transient import DELAYS, RETRIES, is_transient
from chunkprep_flows.upkeep_settings import PruneSettings, RecountSettings
from chunkprep_flows.wording import counted
from chunkprep_store import Pruned


@flow(name="recount", persist_result=False)
def recount(settings: RecountSettings) -> RecountReport:
    """Price a collection's chunks in a further encoding; ids and texts stay, no file is read."""
    tag_collection(settings.collection)
    with (
        told_when_served("recount") as told,
        one_at_a_time(settings.located(), settings.collection),
    ):
        run_id, report = recount_prices(settings)
        headline = f"priced {counted(report.chunks, 'chunk')} in {report.encoding}"
        told.say(headline)
        leave_artifacts("recount", settings.collection, run_id, headline, asdict(report))
    return report


@flow(name="prune", persist_result=False)
def prune(settings: PruneSettings) -> Pruned:
    """Remove superseded and withdrawn versions and old pack logs."""
    tag_collection(settings.collection)
    with (
        told_when_served("prune") as told,
        one_at_a_time(settings.located(), settings.collection),
    ):
        run_id, removed = prune_versions(settings)
        headline = (
            f"removed {counted(removed.versions, 'version')} and {counted(removed.packs, 'pack')}"
        )
        told.say(headline)
        leave_artifacts("prune", settings.collection, run_id, headline, removed._asdict())
    return removed


@task(
    name="recount-prices",
    cache_policy=NO_CACHE,
    persist_result=False,
    retry_delay_seconds=DELAYS,
    retry_condition_fn=is_transient,
    **RETRIES,
)
def recount_prices(settings: RecountSettings) -> tuple[str, RecountReport]:
    """The work of `recount`, and the id of its run record. A second try goes on where it was."""
    with opened(settings.store) as store, graceful_stop():
        store.collection_id(settings.collection)  # a run's record would make a collection
        asked = settings.model_dump(mode="json", exclude={"store"})
        run_id = store.start_run(
            settings.collection, now=now(), kind="recount", settings=asked, flow_run_id=_flow_run()
        )
        report = recount_collection(store, settings.collection, settings.encoding)
        store.finish_run(run_id, now=now(), summary=asdict(report))
    return run_id, report


@task(
    name="prune-versions",
    cache_policy=NO_CACHE,
    persist_result=False,
    retry_delay_seconds=DELAYS,
    retry_condition_fn=is_transient,
    **RETRIES,
)
def prune_versions(settings: PruneSettings) -> tuple[str, Pruned]:
    """The work of `prune`, and the id of its run record."""
    with opened(settings.store) as store:
        store.collection_id(settings.collection)  # a run's record would make a collection
        asked = settings.model_dump(mode="json", exclude={"store"})
        run_id = store.start_run(
            settings.collection, now=now(), kind="prune", settings=asked, flow_run_id=_flow_run()
        )
        removed = prune_collection(
            store,
            settings.collection,
            older_than=settings.older_than,
            packs=settings.packs,
            even_if_logged=settings.even_if_logged,
        )
        store.finish_run(run_id, now=now(), summary=removed._asdict())
    return run_id, removed


def _flow_run() -> str | None:
    """Prefect's id of the flow run, for the record of ours."""
    return None if flow_run.id is None else str(flow_run.id)


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
