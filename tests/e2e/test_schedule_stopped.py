"""`chunkprep schedule` that is stopped while a run of it is under way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.e2e.test_flow_control import DOCUMENTS, write_documents, written
from tests.support.schedules import deployment_of, due, places_taken, schedule, served
from tests.support.stopping import wait_until

pytestmark = pytest.mark.prefect


@pytest.fixture
def client(prefect_api: str) -> Iterator[Any]:
    from prefect import get_client

    with get_client(sync_client=True) as opened:
        yield opened


@pytest.mark.parametrize("group", [True, False], ids=["ctrl-c", "sigterm"])
def test_its_run_ends_at_a_document_and_keeps_no_place(
    prefect_api: str, cli: Cli, client: Any, group: bool
) -> None:
    write_documents(cli.folder / "docs")
    store = cli.folder / "chunkprep.db"
    name = f"stopped-{group}"
    running = served(cli, prefect_api, name)
    flow = f"ingest-documents/{name}"
    wait_until(lambda: deployment_of(client, flow))
    deployment = deployment_of(client, flow)
    schedule(prefect_api, deployment, datetime.now(UTC) - timedelta(days=8), 1)

    stopped = running.stop_once(lambda: written(store), group=group)

    assert (stopped.code, stopped.orphans) == (0, ())
    assert "Traceback" not in stopped.err
    there = written(store)
    assert 0 < there < DOCUMENTS
    assert f"{flow}: " in stopped.err
    assert f"stopped with {DOCUMENTS - there} documents unread" in stopped.err
    assert due(client, deployment) == {"Cancelled": 1}
    assert places_taken(client, deployment) == 0
