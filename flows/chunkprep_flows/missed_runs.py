"""Scheduled runs that nobody made in time: one is made up for, the others are skipped.

A run of the same settings makes them all up. Prefect on its own makes one after the other, and
keeps the place of a run that was handed out, but not begun, when the process that serves it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import UUID

from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    DeploymentFilterName,
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import Cancelled

_PAGE = 200
_WAITING = ["Scheduled", "Late", "AwaitingConcurrencySlot"]
"""Names of states that a due run waits in; one that is resumed or tried again has begun."""


def skip_missed(flow_run: UUID) -> int:
    """Cancel the runs that this one, of its deployment's schedule, makes up for; how many.

    They are due by now, and have its parameters.
    """
    state = FlowRunFilterState(name=FlowRunFilterStateName(any_=_WAITING))
    due = FlowRunFilterExpectedStartTime.model_validate({"before_": datetime.now(UTC)})
    skipped = 0
    with get_client(sync_client=True) as client:
        this = client.read_flow_run(flow_run)
        if not this.auto_scheduled or this.deployment_id is None:
            return 0
        of_deployment = DeploymentFilter(id=DeploymentFilterId(any_=[this.deployment_id]))
        wanted = FlowRunFilter(state=state, expected_start_time=due)
        for run in tuple(_runs(client, of_deployment, wanted)):
            if run.auto_scheduled and run.parameters == this.parameters:
                _cancel(client, run, f"skipped: {this.name} makes it up")
                skipped += 1
    return skipped


def cancel_unbegun(flows: Sequence[str], name: str) -> None:
    """Cancel runs of the deployments `name` of `flows` that were handed out and did not begin.

    Their places, one a deployment, are free again.
    """
    pending = FlowRunFilterStateType(any_=[StateType.PENDING])
    with get_client(sync_client=True) as client:
        found = _runs(
            client,
            DeploymentFilter(name=DeploymentFilterName(any_=[name])),
            FlowRunFilter(state=FlowRunFilterState(type=pending)),
            FlowFilter(name=FlowFilterName(any_=list(flows))),
        )
        for run in tuple(found):
            _cancel(client, run, "its schedule was stopped before it began")


def _runs(
    client: SyncPrefectClient,
    deployment: DeploymentFilter,
    wanted: FlowRunFilter,
    flow: FlowFilter | None = None,
) -> Iterator[FlowRun]:
    """All of them, page by page."""
    seen = 0
    while True:
        found = client.read_flow_runs(
            flow_filter=flow,
            deployment_filter=deployment,
            flow_run_filter=wanted,
            sort=FlowRunSort.EXPECTED_START_TIME_ASC,
            limit=_PAGE,
            offset=seen,
        )
        yield from found
        seen += len(found)
        if len(found) < _PAGE:
            return


def _cancel(client: SyncPrefectClient, run: FlowRun, why: str) -> None:
    client.set_flow_run_state(run.id, Cancelled(message=why))
