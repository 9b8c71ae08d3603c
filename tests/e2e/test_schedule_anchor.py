"""`chunkprep schedule --every` that is started again: an interval goes on where it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.support.schedules import deployment_of, due, schedule, served

pytestmark = pytest.mark.prefect

NAME = "anchored"
INGEST = f"ingest-documents/{NAME}"
AUDIT = f"audit-versions/{NAME}"


def begun(cli: Cli, api: str, client: Any, every: int) -> list[Any]:
    """The schedules of ingest and audit, once a start has given them to the API."""
    before = [schedule_id(client, name) for name in (INGEST, AUDIT)]
    running = served(cli, api, NAME, "--audit-every", "200000", when=("--every", str(every)))

    def given() -> bool:
        now = [schedule_id(client, name) for name in (INGEST, AUDIT)]
        return None not in now and not set(now) & set(before)

    running.stop_once(given)
    return [deployment_of(client, name).schedules[0].schedule for name in (INGEST, AUDIT)]


def schedule_id(client: Any, name: str) -> Any:
    """Each start makes a new one."""
    found = deployment_of(client, name)
    return found.schedules[0].id if found is not None and found.schedules else None


def test_an_interval_goes_on_when_the_process_is_started_again(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    before = datetime.now(UTC)
    ingest, audit = begun(cli, prefect_api, client, 100_000)
    assert before < ingest.anchor_date < datetime.now(UTC), "the first run is after an interval"

    assert begun(cli, prefect_api, client, 100_000) == [ingest, audit]

    changed, same = begun(cli, prefect_api, client, 99_999)
    assert changed.interval == timedelta(seconds=99_999)
    assert changed.anchor_date > ingest.anchor_date
    assert same == audit


def test_a_run_that_came_due_between_two_starts_is_made_and_the_interval_goes_on(
    prefect_api: str, cli: Cli, client: Any
) -> None:
    kept, _ = begun(cli, prefect_api, client, 100_000)
    deployment = deployment_of(client, INGEST)
    schedule(prefect_api, deployment, kept.anchor_date - timedelta(days=4), 3)
    assert due(client, deployment) == {"Scheduled": 3}
    running = served(cli, prefect_api, NAME, when=("--every", "100000"))
    stopped = running.stop_once(lambda: due(client, deployment)["Completed"])
    assert f"{INGEST}: skipped 2 missed runs" in stopped.err
    assert due(client, deployment) == {"Completed": 1, "Cancelled": 2}
    assert deployment_of(client, INGEST).schedules[0].schedule == kept
