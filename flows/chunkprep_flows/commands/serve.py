"""serve: the HTTP service."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chunkprep_flows.console import talk
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, option, store_option
from chunkprep_ingest.errors import ChunkprepError

if TYPE_CHECKING:
    from chunkprep_packer.service.settings import ServiceSettings

F = TypeVar("F", bound=Callable[..., Any])

APP = "chunkprep_packer.service.app:app_from_environment"
GRACE_SECONDS = 30
"""How long requests at work may take to end after SIGTERM."""
WORKER_SECONDS = 60
"""How long a worker may be silent before it is replaced: starting takes seconds."""


def limit(name: str, default: int, unit: str, text: str) -> Callable[[F], F]:
    """An option that bounds what one request may ask for."""
    return option(name, type=click.IntRange(1), default=default, metavar=unit, help=text)


@command(example="chunkprep serve --port 8000 --workers 2")
@option("--host", default="127.0.0.1", metavar="HOST", help="The address to listen on.")
@option("--port", type=click.IntRange(1, 65535), default=8000, metavar="PORT", help="Its port.")
@option(
    "--workers", type=click.IntRange(1, 256), default=1, metavar="N", help="How many processes."
)
@option(
    "--threads", type=click.IntRange(1, 30), default=8, metavar="N",
    help="How many requests of a worker may wait for the database at a time.",
)  # fmt: skip
@limit("--max-body", 16 * 1024 * 1024, "BYTES", "The longest body of a request.")
@limit("--max-candidates", 1000, "N", "The most candidates of a pack, and the most pins.")
@limit("--max-vector", 8192, "N", "The longest vector of a candidate or a query.")
@limit("--max-top", 1000, "N", "The most hits of a search.")
@limit("--max-page", 1000, "N", "The most entries of an answer that lists.")
@store_option
def serve(host: str, port: int, workers: int, threads: int, store: str, **limits: int) -> None:
    """Serve packing over HTTP until interrupted; log lines are JSON on stderr.

    Without an API key (`chunkprep keys add`) only this machine is served. SIGTERM and Ctrl-C end
    it: requests at work are answered and the pack log is written first.
    """
    from chunkprep_packer.service.limits import Limits
    from chunkprep_packer.service.settings import ServiceSettings, is_loopback

    import_server()
    with opened(store) as source:
        keys = source.api_keys()
    most = Limits(**{name.removeprefix("max_"): value for name, value in limits.items()})
    settings = ServiceSettings(store, is_loopback(host), most, threads)
    if not keys and not settings.loopback:
        raise ChunkprepError(
            f"no API key is configured, so {host} is not served, only this machine; make one with "
            f"`chunkprep keys add`, or leave out --host"
        )
    check_free(host, port)
    guard = keys_line(len(keys))
    name = f"[{host}]" if ":" in host else host
    talk(f"serving http://{name}:{port} with {workers} workers, {guard}; Ctrl-C ends it")
    run_server(settings, host, port, workers)


def check_free(host: str, port: int) -> None:
    """Raises ChunkprepError where nobody can listen there: the server would say so in its log."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            told = (
                f"port {port} of {host} is in use; stop what serves there, or name another --port"
            )
        else:
            told = f"{host} port {port}: {error.strerror}; name another --host or --port"
        raise ChunkprepError(told) from error


def keys_line(count: int) -> str:
    """How callers are let in."""
    return f"{count} API keys" if count else "without API keys, to this machine only"


def import_server() -> None:
    """Raises ModuleNotFoundError, which names the extra, where the server is not installed."""
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401


def run_server(
    settings: ServiceSettings, host: str, port: int, workers: int, *, app: str = APP
) -> None:
    """Run uvicorn until it is stopped. `app` names what makes one worker's app."""
    from chunkprep_packer.service.request_log import SERVER_LOGGING
    from chunkprep_packer.service.settings import VARIABLE

    with variables({VARIABLE: settings.to_json()}), shared_metrics(workers):
        import uvicorn

        uvicorn.run(
            app,
            factory=True,
            host=host,
            port=port,
            workers=workers,
            access_log=False,
            log_config=SERVER_LOGGING,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_worker_healthcheck=WORKER_SECONDS,
        )


@contextmanager
def shared_metrics(workers: int) -> Iterator[None]:
    """A folder in which several workers add up their figures."""
    if workers == 1:
        yield
        return
    with (
        tempfile.TemporaryDirectory(prefix="chunkprep-metrics-") as folder,
        variables({"PROMETHEUS_MULTIPROC_DIR": folder}),
    ):
        yield


@contextmanager
def variables(values: dict[str, str]) -> Iterator[None]:
    """These environment variables, for the processes started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
