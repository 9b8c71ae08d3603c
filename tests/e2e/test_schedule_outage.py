"""A Prefect API that goes away while `chunkprep schedule` is served, and comes back."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.support.relay import relayed
from tests.support.schedules import deployment_of, due, schedule, served
from tests.support.stopping import wait_until

pytestmark = pytest.mark.prefect

IMPATIENT = {"PREFECT_CLIENT_MAX_RETRIES": "1", "PREFECT_RUNNER_POLL_FREQUENCY": "1"}
"""Prefect asks each second, and takes the second failure as one: it takes minutes to give up. Not
the first: a server whose database is locked for a moment says 503.
"""


def test_it_is_told_in_a_line_and_outlived(
    prefect_api: str, cli: Cli, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in IMPATIENT.items():
        monkeypatch.setenv(name, value)
    away, back = "the Prefect API does not answer", "the Prefect API answers again"
    with relayed(prefect_api) as (relay, address):
        running = served(cli, address, "outage")
        wait_until(lambda: deployment_of(client, "ingest-documents/outage"))
        deployment = deployment_of(client, "ingest-documents/outage")
        weeks_ago = datetime.now(UTC) - timedelta(days=15)
        schedule(prefect_api, deployment, weeks_ago, 1)
        wait_until(lambda: "prefect.engine" in str(running.living()))
        relay.cut()
        wait_until(lambda: away in running.said or not running.living())
        wait_until(lambda: "prefect.engine" not in str(running.living()))
        schedule(prefect_api, deployment, weeks_ago + timedelta(days=7), 1)
        threading.Event().wait(20)  # three questions without an answer, and more
        relay.mend()
        stopped = running.stop_once(lambda: due(client, deployment)["Completed"], group=True)

    assert stopped.code == 0, stopped.err
    assert due(client, deployment) == {"Crashed": 1, "Completed": 1}, "no place is kept"
    assert (stopped.err.count(away), stopped.err.count(back)) == (1, 1)
    assert "ingest-documents/outage: 1 document: 1 new" in stopped.err
    assert "Traceback" not in stopped.err + stopped.out
    assert "websocket" not in stopped.err
    assert stopped.err.count("\n") < 10, stopped.err


def test_a_next_run_that_passes_while_the_api_says_nothing_is_not_named(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings
    from prefect.states import Scheduled

    from chunkprep_flows.served_runs import next_run

    served(cli, prefect_api, "next", when=("--every", "100000")).stop_once(
        lambda: deployment_of(client, "ingest-documents/next")
    )
    deployment = deployment_of(client, "ingest-documents/next")
    soon = datetime.now(UTC) + timedelta(seconds=5)
    for moment in (soon, soon + timedelta(days=1)):
        client.create_flow_run_from_deployment(
            deployment.id, state=Scheduled(scheduled_time=moment)
        )
    said: list[str] = []

    with relayed(prefect_api) as (relay, address):

        def ask() -> None:
            with temporary_settings({PREFECT_API_URL: address}):
                said.append(next_run(str(deployment.id)))

        relay.flowing.clear()
        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: datetime.now(UTC) > soon)
        relay.flowing.set()
        asking.join()
    [line] = said
    assert datetime.fromisoformat(line.removeprefix("next run ").replace(" UTC", "+00:00")) > soon
