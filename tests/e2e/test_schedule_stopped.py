"""`chunkprep schedule` that is stopped while a run of it is under way."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.e2e.test_flow_control import DOCUMENTS, write_documents, written
from tests.support.schedules import deployment_of, due, places_taken, schedule, served
from tests.support.stopping import Running, wait_until

pytestmark = pytest.mark.prefect


def begun(cli: Cli, api: str, client: Any, name: str) -> tuple[Running, Any]:
    """A schedule with a run that is due, and its deployment."""
    running = served(cli, api, name)
    wait_until(lambda: deployment_of(client, f"ingest-documents/{name}"))
    deployment = deployment_of(client, f"ingest-documents/{name}")
    schedule(api, deployment, datetime.now(UTC) - timedelta(days=8), 1)
    return running, deployment


@pytest.mark.parametrize("group", [True, False], ids=["ctrl-c", "sigterm"])
def test_its_run_ends_at_a_document_and_keeps_no_place(
    prefect_api: str, cli: Cli, client: Any, group: bool
) -> None:
    write_documents(cli.folder / "docs")
    store = cli.folder / "chunkprep.db"
    name = f"stopped-{group}"
    running, deployment = begun(cli, prefect_api, client, name)

    stopped = running.stop_once(lambda: written(store), group=group)

    assert (stopped.code, stopped.orphans) == (0, ())
    assert "Traceback" not in stopped.err
    there = written(store)
    assert 0 < there < DOCUMENTS
    [line] = [line for line in stopped.err.splitlines() if line.startswith("ingest-documents/")]
    assert f"stopped with {DOCUMENTS - there} documents unread" in line
    assert due(client, deployment) == {"Cancelled": 1}
    assert places_taken(client, deployment) == 0


def test_asked_again_it_does_not_wait_for_a_long_document(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "long.md").write_text("Words that go on for long. " * 3_000_000)
    running, deployment = begun(cli, prefect_api, client, "twice")
    wait_until(lambda: due(client, deployment)["Running"])

    def asked() -> bool:
        os.killpg(running.process.pid, signal.SIGINT)
        wait_until(lambda: "again to stop now" in running.said)
        return True

    stopped = running.stop_once(asked, group=True)

    assert (stopped.code, stopped.orphans) == (0, ())
    [state] = due(client, deployment)
    assert state in {"Crashed", "Cancelled"}
    assert places_taken(client, deployment) == 0
