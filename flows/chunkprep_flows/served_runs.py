"""What a scheduled run says when it ends: one line on stderr, which `schedule` shows; and another
one when it begins, where it makes up for runs that were missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

from prefect import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.runtime import deployment, flow_run

from chunkprep_flows.console import talk
from chunkprep_flows.interrupt import StoppedError
from chunkprep_flows.missed_runs import skip_missed
from chunkprep_flows.wording import counted

_ASKED_AGAIN = 3
"""So often the next run is asked for where the answer names one that was due meanwhile."""


class Told:
    """Takes what a run has to say; `served` where a schedule started it."""

    headline = ""

    def __init__(self, *, served: bool) -> None:
        self.served = served

    def say(self, headline: str) -> None:
        """The run's result in words."""
        self.headline = headline


@contextmanager
def told_when_served(flow: str) -> Iterator[Told]:
    """Tell how a run of `flow` ended and when the next one is, where a schedule started it."""
    deployed = deployment.id  # asks the API each time
    told = Told(served=deployed is not None)
    if not told.served:
        yield told
        return
    _make_up(f"{flow}/{deployment.name}")
    try:
        yield told
    except StoppedError as stopped:
        told.say(str(stopped))
        raise
    except BaseException as error:
        if not told.headline:
            told.say(f"failed: {type(error).__name__}: {' '.join(str(error).split())}")
        raise
    finally:
        talk(f"{flow}/{deployment.name}: {told.headline}; {next_run(str(deployed))}")


def _make_up(name: str) -> None:
    """Skip the other runs that are due by now, and say so."""
    try:
        skipped = skip_missed(UUID(str(flow_run.id)))
    except Exception as error:  # the run itself is what matters
        talk(f"{name}: runs that were missed are still to come ({type(error).__name__})")
        return
    if skipped:
        talk(f"{name}: skipped {counted(skipped, 'missed run')}, which this run makes up for")


def next_run(deployment_id: str) -> str:
    """When the deployment's next run is due, in words: one that is due already is not meant.

    An answer may come late, when the API was away.
    """
    try:
        for _ in range(_ASKED_AGAIN):
            due = _first_due(deployment_id, datetime.now(UTC))
            if due is None:
                return "no next run is scheduled"
            if due > datetime.now(UTC):
                return f"next run {due:%Y-%m-%d %H:%M:%S %Z}"
    except Exception as error:  # a line less told is no reason to fail a run
        return f"the next run is not known ({type(error).__name__})"
    return "the next run is due"


def _first_due(deployment_id: str, after: datetime) -> datetime | None:
    """When the first of the deployment's scheduled runs after that moment is."""
    scheduled = FlowRunFilterStateType(any_=[StateType.SCHEDULED])
    coming = FlowRunFilterExpectedStartTime.model_validate({"after_": after})
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(
            deployment_filter=DeploymentFilter(
                id=DeploymentFilterId.model_validate({"any_": [deployment_id]})
            ),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(type=scheduled), expected_start_time=coming
            ),
            sort=FlowRunSort.EXPECTED_START_TIME_ASC,
            limit=1,
        )
    return runs[0].expected_start_time if runs else None
