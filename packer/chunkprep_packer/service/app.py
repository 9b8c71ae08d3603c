"""The application: routes, errors and shutdown put together. Serve it with uvicorn."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from chunkprep_packer.service import pack_routes, probes, routes
from chunkprep_packer.service.answers import problem_answer
from chunkprep_packer.service.inspector import inspector_router
from chunkprep_packer.service.last_whole import LastWhole
from chunkprep_packer.service.metrics import Metrics
from chunkprep_packer.service.openapi import describe
from chunkprep_packer.service.opened import OpenedService
from chunkprep_packer.service.outermost import Outermost
from chunkprep_packer.service.problems import Problem, of_status
from chunkprep_packer.service.request_log import write_line
from chunkprep_packer.service.settings import ServiceSettings

GARBAGE = 10_000
"""Objects made and not yet gone before the collector looks at them; a pack makes hundreds."""


def create_app(settings: ServiceSettings, *, routers: Sequence[APIRouter] = ()) -> FastAPI:
    """The service over `settings.store`, with further `routers` (pages, for instance).

    Nothing is opened before the first request; at shutdown the pack log is written.
    """
    service, metrics = OpenedService(settings), Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        to_thread.current_default_thread_limiter().total_tokens = settings.threads
        yield
        await run_in_threadpool(service.close)
        metrics.lost(service.log_losses)
        write_line("stopped", log_losses=service.log_losses)

    app = FastAPI(
        title="chunkprep",
        version=metadata.version("chunkprep"),
        description="Packs retrieved chunks into a context window, exactly and in force.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service, app.state.metrics = service, metrics
    app.state.last_whole = LastWhole()
    for router in (routes.bodies, routes.router, pack_routes.router, probes.router, *routers):
        app.include_router(router)
    app.add_exception_handler(HTTPException, _plain_problem)
    app.add_exception_handler(RequestValidationError, _parameter_problem)
    app.add_middleware(Outermost, body_limit=settings.limits.body, metrics=metrics)
    document: dict[str, Any] = {}
    app.openapi = lambda: document or document.update(describe(app)) or document  # type: ignore[method-assign]
    return app


def app_from_environment(*further: APIRouter) -> FastAPI:
    """The app of one worker process of `chunkprep serve`, with `further` routers."""
    spare_the_collector()
    return create_app(ServiceSettings.from_environment(), routers=[inspector_router(), *further])


def spare_the_collector() -> None:
    """Set aside, for good, what this process has loaded, so that the garbage collector does not
    walk through it again and again: that took a sixth of a pack's processor time. What a request
    makes goes by reference count anyway.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


async def _plain_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = of_status(error.status_code, str(error.detail), error.headers)
    return problem_answer(problem, request.state.request_id)


async def _parameter_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    problem = Problem(422, "bad_request", f"{name}: {first['msg'].lower()}", name)
    return problem_answer(problem, request.state.request_id)
