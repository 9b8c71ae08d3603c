"""What an orchestrator and a monitor ask: alive, ready, figures. No key is needed for these."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from chunkprep_ingest.errors import SchemaError
from chunkprep_packer.service import shapes
from chunkprep_packer.service.access import service_of
from chunkprep_packer.service.answers import documented, json_answer
from chunkprep_packer.service.last_whole import LastWhole
from chunkprep_packer.service.metrics import Metrics

router = APIRouter()


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=shapes.Health)
async def healthz() -> Response:
    """The process answers."""
    return json_answer({"status": "ok"})


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=shapes.Readiness, responses=documented(500, 503))
def readyz(request: Request) -> Response:
    """The database answers, its schema is this program's, and a SQLite file is where it was."""
    store = service_of(request).store
    store.require_in_place()
    found = store.schema()
    if not found.ok:
        raise SchemaError(f"schema {found.current}, needed is {found.head}")
    return json_answer({"status": "ready", "schema_revision": found.current})


@router.head("/metrics", include_in_schema=False)
@router.get("/metrics", response_class=Response, responses=documented(500))
def metrics(request: Request) -> Response:
    """Prometheus figures of all workers, and when each collection was last ingested whole."""
    kept: Metrics = request.app.state.metrics
    last_whole: LastWhole = request.app.state.last_whole
    service = service_of(request)
    kept.lost(service.log_losses)
    text = kept.text(last_whole.figures(lambda: service.store))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
