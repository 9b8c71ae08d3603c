"""Serving the flows as deployments."""

from __future__ import annotations

from typing import Any, cast

from prefect import serve
from prefect.types.entrypoint import EntrypointType

from chunkprep_flows.ingest_documents import ingest_documents
from chunkprep_flows.ingest_settings import IngestSettings


def serve_ingest(
    settings: IngestSettings, *, name: str, cron: str | None = None, interval: float | None = None
) -> None:
    """Serve the ingest flow until interrupted; one run at a time.

    The schedule is not paused on the way out: whoever stops the process to upgrade it should not
    have to remember to switch the schedule on again.
    """
    deployment = ingest_documents.to_deployment(
        name=name,
        cron=cron,
        interval=interval,
        parameters={"settings": settings.model_dump(mode="json")},
        tags=["chunkprep", f"collection:{settings.collection}"],
        concurrency_limit=1,
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    serve(cast(Any, deployment), pause_on_shutdown=False, print_starting_message=False, limit=1)
