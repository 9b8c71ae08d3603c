"""A schedule that is served, and what the Prefect API says of its deployment's runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
from tests.e2e.conftest import Cli
from tests.support.stopping import Running, wait_until

WEEKLY = "0 0 * * 1"


def served(
    cli: Cli, api: str, name: str, *options: str, when: Sequence[str] = ("--cron", WEEKLY)
) -> Running:
    """`chunkprep schedule` over the folder docs, which is made where there is none."""
    docs = cli.folder / "docs"
    if not docs.exists():
        docs.mkdir()
        (docs / "a.md").write_text("# A\n\nText.\n")
    return Running(
        cli.folder, "schedule", "docs", *when, "--name", name, *options,
        env={"PREFECT_API_URL": api},
    )  # fmt: skip


def deployment_of(client: Any, name: str) -> Any:
    """The deployment `flow/name`; None as long as there is none."""
    from prefect.exceptions import ObjectNotFound

    try:
        return client.read_deployment_by_name(name)
    except ObjectNotFound:
        return None


def schedule(api: str, deployment: Any, start: datetime, runs: int) -> None:
    """Make so many runs from then on, as Prefect's scheduler does."""
    asked = {"start_time": start.isoformat(), "min_runs": runs, "max_runs": runs, "min_time": 1}

    def made() -> bool:
        answer = httpx.post(f"{api}/deployments/{deployment.id}/schedule", json=asked)
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:  # its database is locked
            return False
        answer.raise_for_status()
        return True

    wait_until(made)


def due(client: Any, deployment: Any) -> Counter[str]:
    """The names of the states of all its runs that were due by now."""
    from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId

    wanted = DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id]))
    runs = client.read_flow_runs(deployment_filter=wanted)
    moment = datetime.now(UTC)
    return Counter(run.state.name for run in runs if run.expected_start_time <= moment)


def places_taken(client: Any, deployment: Any) -> int:
    """How many runs hold a place of the deployment's."""
    limit = client.read_deployment(deployment.id).global_concurrency_limit
    return int(client.read_global_concurrency_limit_by_name(limit.name).active_slots)
