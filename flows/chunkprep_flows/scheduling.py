"""Serving the flows as deployments."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from prefect import get_client
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.exceptions import ObjectNotFound
from prefect.schedules import Interval
from prefect.types.entrypoint import EntrypointType

from chunkprep_flows.audit_settings import AuditSettings
from chunkprep_flows.audit_versions import audit_versions
from chunkprep_flows.deployment_runner import run_deployments
from chunkprep_flows.ingest_documents import ingest_documents
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.missed_runs import cancel_unbegun


def serve_flows(
    settings: IngestSettings,
    *,
    name: str,
    cron: str | None = None,
    interval: float | None = None,
    audit: AuditSettings | None = None,
    audit_cron: str | None = None,
    audit_interval: float | None = None,
    begun: Callable[[], None],
) -> None:
    """Serve the ingest flow until interrupted, one run at a time, and the audit beside it.

    An interval goes on from where the deployment's present schedule has it.
    A run that was handed out and did not begin holds its deployment's place: it is cancelled when
    this ends, and, where that was not possible, when it begins. `begun` is called once the Prefect
    API has answered.
    The schedules are not paused on the way out: whoever stops the process to upgrade it should not
    have to remember to switch them on again.
    """
    served = [_deployment(ingest_documents, settings, name, cron=cron, interval=interval)]
    if audit is not None:
        served.append(
            _deployment(audit_versions, audit, name, cron=audit_cron, interval=audit_interval)
        )
    flows = [deployment.flow_name for deployment in served]
    cancel_unbegun(flows, name)
    begun()

    def leave() -> None:
        with suppress(Exception):  # the API is away: whoever serves the flows next does it
            cancel_unbegun(flows, name)

    try:
        run_deployments(served, leave)
    finally:
        leave()


def _deployment(
    flow: Any,
    settings: IngestSettings | AuditSettings,
    name: str,
    *,
    cron: str | None,
    interval: float | None,
) -> Any:
    schedule: dict[str, Any] = {"cron": cron}
    if interval is not None:
        every = timedelta(seconds=interval)
        schedule = {"schedule": Interval(every, anchor_date=_anchor(f"{flow.name}/{name}", every))}
    return flow.to_deployment(
        name=name,
        parameters={"settings": settings.model_dump(mode="json")},
        tags=["chunkprep", f"collection:{settings.collection}"],
        concurrency_limit=1,
        entrypoint_type=EntrypointType.MODULE_PATH,
        **schedule,
    )


def _anchor(deployment: str, every: timedelta) -> datetime | None:
    """From when on the deployment's present schedule counts that interval; None if it has none.

    Counted from each start, a long one would never be over where the process is often started.
    """
    with get_client(sync_client=True) as client:
        try:
            present = client.read_deployment_by_name(deployment)
        except ObjectNotFound:
            return None
    for kept in (each.schedule for each in present.schedules):
        if isinstance(kept, IntervalSchedule) and kept.interval == every:
            return kept.anchor_date
    return None
