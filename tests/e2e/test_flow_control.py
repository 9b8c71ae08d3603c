"""What people do to a flow run from Prefect's pages or by its API: start, cancel, pause, resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.e2e.conftest import Cli

from chunkprep_store import Store
from chunkprep_store.tables import versions

pytestmark = pytest.mark.prefect

DOCUMENTS = 800
TEXT = "Some words of a sentence that goes on. " * 300
WAIT_SECONDS = 150
BY_HAND = """
import sys
from chunkprep_flows.flow_control import StoppedRunError
from chunkprep_flows.ingest_documents import ingest_documents
from chunkprep_flows.ingest_settings import IngestSettings
try:
    ingest_documents(IngestSettings(sources=("docs",), batch_documents=2, collection="hand"))
except StoppedRunError as stopped:
    print(stopped)
    sys.exit(7)
"""


def write_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"d{number:03}.md").write_text(f"# D{number}\n\n{TEXT}\n")


def written(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with Store.open(f"sqlite:///{store}") as found, found.database.snapshot() as connection:
            return int(connection.scalar(sa.select(sa.func.count()).select_from(versions)) or 0)
    except Exception:  # it is being made
        return 0


def wait_until(happened: Callable[[], Any]) -> Any:
    """What `happened` gave once it was true."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        found = happened()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


@contextmanager
def by_hand(api: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A flow run that is started by hand: no runner of Prefect's watches over it."""
    write_documents(folder / "docs")
    with subprocess.Popen(
        [sys.executable, "-c", BY_HAND], cwd=folder, env={**os.environ, "PREFECT_API_URL": api},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            yield running
        finally:
            running.kill()


def flow_run_of(client: Any, collection: str) -> Any:
    """The latest flow run with the collection's tag; None as long as there is none."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterTags
    from prefect.client.schemas.sorting import FlowRunSort

    wanted = FlowRunFilter(tags=FlowRunFilterTags(all_=[f"collection:{collection}"]))
    found = client.read_flow_runs(
        flow_run_filter=wanted, sort=FlowRunSort.EXPECTED_START_TIME_DESC, limit=1
    )
    return found[0] if found else None


def test_a_run_by_hand_that_is_cancelled_ends_at_a_document(prefect_api: str, cli: Cli) -> None:
    from prefect import get_client
    from prefect.states import Cancelling

    store = cli.folder / "chunkprep.db"
    with by_hand(prefect_api, cli.folder) as running, get_client(sync_client=True) as client:
        wait_until(lambda: written(store))
        run = flow_run_of(client, "hand")
        client.set_flow_run_state(run.id, Cancelling())
        out, err = running.communicate(timeout=WAIT_SECONDS)
        ended = client.read_flow_run(run.id).state
    assert running.returncode == 7, err
    assert "Cancelling by Prefect: stopping after the documents at hand" in err
    assert ended is not None
    assert (ended.type.value, "unread" in str(ended.message)) == ("CANCELLED", True)
    there = written(store)
    assert 0 < there < DOCUMENTS
    assert f"stopped with {DOCUMENTS - there} documents unread" in out
    again = cli.ingest("docs", "--collection", "hand")
    assert (again["unchanged"], again["new"]) == (there, DOCUMENTS - there)


def test_a_paused_run_waits_and_a_resumed_one_goes_on(prefect_api: str, cli: Cli) -> None:
    from prefect import get_client
    from prefect.states import Paused

    store = cli.folder / "chunkprep.db"

    def settled() -> bool:
        before = written(store)
        time.sleep(6)
        return written(store) == before

    with by_hand(prefect_api, cli.folder) as running, get_client(sync_client=True) as client:
        wait_until(lambda: written(store))
        run = flow_run_of(client, "hand")
        client.set_flow_run_state(run.id, Paused(timeout_seconds=600))
        wait_until(settled)
        assert running.poll() is None
        assert 0 < written(store) < DOCUMENTS
        client.resume_flow_run(run.id)
        _, err = running.communicate(timeout=WAIT_SECONDS)
        ended = client.read_flow_run(run.id).state
    assert running.returncode == 0, err
    assert ended is not None
    assert ended.is_completed()
    assert written(store) == DOCUMENTS


@contextmanager
def serving(api: str, folder: Path) -> Iterator[None]:
    """`chunkprep schedule` with a schedule that is never due."""
    command = ["schedule", "docs", "--cron", "0 0 1 1 *", "--name", "api"]
    with subprocess.Popen(
        [sys.executable, "-m", "chunkprep_flows.cli", *command],
        cwd=folder, env={**os.environ, "PREFECT_API_URL": api}, stderr=subprocess.PIPE, text=True,
    ) as served:  # fmt: skip
        try:
            yield
        finally:
            served.send_signal(signal.SIGTERM)
            served.communicate(timeout=WAIT_SECONDS)


def started(client: Any, folder: Path, store: Path, collection: str) -> Any:
    """A run of the deployment into a collection of its own, once it has written documents."""
    from prefect.exceptions import ObjectNotFound

    def deployed() -> Any:
        try:
            return client.read_deployment_by_name("ingest-documents/api")
        except ObjectNotFound:
            return None

    settings = {
        "sources": [str(folder / "docs")],
        "store": f"sqlite:///{store}",
        "collection": collection,
        "batch_documents": 2,
    }
    deployment = wait_until(deployed)
    run = client.create_flow_run_from_deployment(deployment.id, parameters={"settings": settings})
    wait_until(lambda: written(store))
    return run


def test_a_deployment_is_run_with_parameters_and_cancelled_by_the_api(
    prefect_api: str, cli: Cli
) -> None:
    from prefect import get_client
    from prefect.client.schemas.filters import LogFilter, LogFilterFlowRunId
    from prefect.states import Cancelling

    write_documents(cli.folder / "docs")
    store = cli.folder / "other.db"
    with serving(prefect_api, cli.folder), get_client(sync_client=True) as client:

        def ended() -> Any:
            state = client.read_flow_run(run.id).state
            return state if state is not None and state.is_final() else None

        run = started(client, cli.folder, store, "other")
        client.set_flow_run_state(run.id, Cancelling())
        state = wait_until(ended)
        tags = client.read_flow_run(run.id).tags
        ours = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id]))
        told = f"{DOCUMENTS} documents to read"  # Prefect sends a run's log now and then
        wait_until(lambda: told in [log.message for log in client.read_logs(ours)])
    assert state.is_cancelled()
    assert "collection:other" in tags
    assert "collection:default" not in tags
    with Store.open(f"sqlite:///{store}") as found:
        [record] = found.runs("other")
    assert record.flow_run_id == str(run.id)
    assert (record.summary or {})["stopped"]
    there = written(store)
    assert 0 < there < DOCUMENTS
    assert (record.summary or {})["left"] == DOCUMENTS - there


def test_a_suspended_run_ends_at_a_document_and_goes_on_when_it_is_resumed(
    prefect_api: str, cli: Cli
) -> None:
    from prefect import get_client, suspend_flow_run

    write_documents(cli.folder / "docs")
    store = cli.folder / "suspended.db"
    with serving(prefect_api, cli.folder), get_client(sync_client=True) as client:

        def records() -> list[Any]:
            with Store.open(f"sqlite:///{store}") as found:
                return [one for one in found.runs("suspended") if one.summary is not None]

        run = started(client, cli.folder, store, "suspended")
        suspend_flow_run(flow_run_id=run.id, timeout=600)
        [first] = wait_until(records)
        suspended = client.read_flow_run(run.id).state
        there = written(store)
        client.resume_flow_run(run.id)
        wait_until(lambda: len(records()) == 2)
        [second, _] = records()
        wait_until(lambda: (state := client.read_flow_run(run.id).state) and state.is_final())
        ended = client.read_flow_run(run.id).state
    assert suspended is not None
    assert suspended.name == "Suspended"
    assert first.summary["stopped"]
    assert first.summary["left"] == DOCUMENTS - there
    assert 0 < there < DOCUMENTS
    assert (second.summary["unchanged"], second.summary["new"]) == (there, DOCUMENTS - there)
    assert first.flow_run_id == second.flow_run_id == str(run.id)
    assert ended is not None
    assert ended.is_completed()
    assert written(store) == DOCUMENTS
