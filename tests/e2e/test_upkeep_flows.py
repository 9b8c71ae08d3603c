"""The flows `recount`, `prune` and `sync`: what they do, leave in Prefect, and try again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.support.ingesting import ingest
from tests.support.outage import Outage, at_each_retry

from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.opened import now
from chunkprep_flows.upkeep_settings import PruneSettings, RecountSettings
from chunkprep_ingest.errors import NotFoundError, UnavailableError
from chunkprep_store import Store

pytestmark = pytest.mark.prefect

TEXT = "# A\n\nApples are red."


def finished(flow: Any, settings: Any) -> tuple[Any, UUID]:
    """The final state of a run, and the run's id."""
    state = flow(settings, return_state=True)
    assert state.state_details.flow_run_id is not None
    return state, state.state_details.flow_run_id


def artifacts(run_id: UUID) -> dict[str, str]:
    """Data of what a run left, by key."""
    from prefect import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    wanted = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run_id]))
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(artifact_filter=wanted)
    # A task's artifacts name their task, a flow's do not.
    return {str(a.key): str(a.data) for a in found}


def test_recount_prices_every_chunk_and_names_its_record(
    prefect_api: str, store: Store, store_url: str
) -> None:
    from chunkprep_flows.upkeep import recount

    ingest(store, "a.md", TEXT, now=now())
    settings = RecountSettings(store=store_url, encoding="cl100k_base")
    state, flow_run = finished(recount, settings)
    assert state.result().chunks == 1
    assert not list(store.unpriced("default", "cl100k_base"))
    [record] = [run for run in store.runs("default") if run.kind == "recount"]
    left = artifacts(flow_run)
    assert record.run_id in left["chunkprep-recount-run"]
    assert str((record.summary or {})["flow_run_url"]).endswith(str(flow_run))
    assert '"chunks"' in left["chunkprep-recount"]
    assert recount(settings).chunks == 0, "the second run has nothing left, and no cached answer"


def test_prune_removes_what_is_out_of_force(prefect_api: str, store: Store, store_url: str) -> None:
    from chunkprep_flows.upkeep import prune

    ingest(store, "a.md", TEXT, now=now() - 2)
    ingest(store, "a.md", TEXT + " Pears are not.", now=now())
    state, flow_run = finished(prune, PruneSettings(store=store_url, older_than=0))
    assert state.result().versions == 1
    [record] = [run for run in store.runs("default") if run.kind == "prune"]
    assert record.run_id in artifacts(flow_run)["chunkprep-prune-run"]


def test_sync_withdraws_what_is_gone(prefect_api: str, tmp_path: Path) -> None:
    from chunkprep_flows.ingest_documents import SUMMARY, ingest_documents, sync

    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("a.md", "b.md"):
        (docs / name).write_text(TEXT)
    settings = IngestSettings(sources=(str(docs),), store=f"sqlite:///{tmp_path / 's.db'}")
    ingest_documents(settings)
    (docs / "b.md").unlink()
    assert ingest_documents(settings).withdrawn == 0
    state, flow_run = finished(sync, settings)
    assert (state.result().withdrawn, state.result().unchanged) == (1, 1)
    assert state.result().run_id in artifacts(flow_run)[SUMMARY]


@pytest.mark.postgres
def test_a_database_that_is_away_for_a_moment_is_tried_again(
    prefect_api: str, postgres_server: str, postgres_url: str
) -> None:
    from chunkprep_flows.upkeep import prune

    with Store.open(postgres_url) as store:
        ingest(store, "a.md", TEXT, now=now())
    outage = Outage(postgres_server, postgres_url)
    outage.begin()
    with at_each_retry(outage.end):
        state, flow_run = finished(prune, PruneSettings(store=postgres_url, older_than=0))
    assert state.is_completed()
    assert tries(flow_run) > 1


def test_what_is_wrong_for_good_is_tried_once(prefect_api: str, store_url: str) -> None:
    from chunkprep_flows.upkeep import prune

    wrong = PruneSettings(store=store_url, collection="none", older_than=0)
    state, flow_run = finished(prune, wrong)
    assert state.is_failed()
    with pytest.raises(NotFoundError):
        state.result()
    assert tries(flow_run) == 1


def tries(flow_run: UUID) -> int:
    """How often the one task of a run was tried."""
    from prefect import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    wanted = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run]))
    with get_client(sync_client=True) as client:
        [run] = client.read_task_runs(flow_run_filter=wanted)
    return run.run_count


def test_only_a_database_that_is_away_is_transient() -> None:
    from prefect.states import Failed

    from chunkprep_flows.transient import is_transient

    def of(error: Exception) -> bool:
        return is_transient(None, None, Failed(data=error))

    assert of(UnavailableError("away"))
    assert not of(NotFoundError("no such collection"))
    assert not of(ValueError("a bug"))


def test_runs_of_one_collection_wait_for_each_other(prefect_api: str) -> None:
    from chunkprep_flows.collection_limit import one_at_a_time

    inside = threading.Event()
    order: list[str] = []

    def second() -> None:
        inside.wait()
        with one_at_a_time("sqlite:///a.db", "default"):
            order.append("second")

    waiting = threading.Thread(target=second)
    waiting.start()
    with one_at_a_time("sqlite:///a.db", "default"):
        inside.set()
        with one_at_a_time("sqlite:///a.db", "another"):
            order.append("another collection")
        waiting.join(1)
        order.append("first")
    waiting.join()
    assert order == ["another collection", "first", "second"]
