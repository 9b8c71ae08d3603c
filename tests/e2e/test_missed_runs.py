"""Scheduled runs that were missed, that were handed out when a schedule was stopped, that fail, or
that have nothing to do yet.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.support.schedules import WEEKLY, deployment_of, due, places_taken, schedule, served
from tests.support.stopping import wait_until

pytestmark = pytest.mark.prefect

NAME = "missed"
FLOW = f"ingest-documents/{NAME}"


def test_missed_runs_are_made_up_by_one_and_a_stop_keeps_no_place(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    first = served(cli, prefect_api, NAME)
    first.stop_once(lambda: deployment_of(client, FLOW), group=True)
    deployment = deployment_of(client, FLOW)
    schedule(prefect_api, deployment, datetime.now(UTC) - timedelta(days=90), 12)
    assert due(client, deployment) == {"Scheduled": 12}

    second = served(cli, prefect_api, NAME)
    stopped = second.stop_once(lambda: places_taken(client, deployment), group=True)
    assert "Traceback" not in stopped.err
    assert places_taken(client, deployment) == 0
    before = due(client, deployment)
    assert before["Pending"] == 0

    third = served(cli, prefect_api, NAME)
    wait_until(lambda: places_taken(client, deployment))
    schedule(prefect_api, deployment, datetime.now(UTC), 1)
    told = f"{FLOW}: 1 document"
    stopped = third.stop_once(
        lambda: told in third.said and due(client, deployment)["Completed"], group=True
    )
    assert f"{FLOW}: skipped " in stopped.err
    [line] = [line for line in stopped.err.splitlines() if line.startswith(told)]
    coming = datetime.fromisoformat(line.partition("next run ")[2].replace(" UTC", "+00:00"))
    assert coming > datetime.now(UTC)
    after = due(client, deployment)
    assert after["Completed"] == 1
    assert after["Cancelled"] == 11


def test_a_run_that_fails_is_one_line_and_an_audit_before_the_first_ingest_completes(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    running = served(cli, prefect_api, "trouble", "--audit-cron", WEEKLY)
    names = ("ingest-documents/trouble", "audit-versions/trouble")
    wait_until(lambda: all(deployment_of(client, name) for name in names))
    ingest, audit = (deployment_of(client, name) for name in names)
    just_now = datetime.now(UTC) - timedelta(days=8)
    schedule(prefect_api, audit, just_now, 1)
    wait_until(lambda: due(client, audit) == {"Completed": 1})
    assert "audit-versions/trouble: nothing to audit yet" in running.said
    (cli.folder / "chunkprep.db").write_text("no database at all")
    schedule(prefect_api, ingest, just_now, 1)
    stopped = running.stop_once(lambda: due(client, ingest) == {"Failed": 1}, group=True)
    assert "ingest-documents/trouble: failed: " in stopped.err
    assert "Traceback" not in stopped.err
    assert stopped.err.count("\n") < 6, stopped.err
