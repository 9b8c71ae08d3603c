"""Services under measurement: `chunkprep serve`, and the same server answering a constant."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil
import psycopg
from fastapi import APIRouter, FastAPI, Request, Response

from chunkprep_flows.commands.serve import run_server
from chunkprep_packer.service.app import app_from_environment
from chunkprep_packer.service.routes import BodyRoute
from chunkprep_packer.service.settings import ServiceSettings

CHUNKPREP = (sys.executable, "-m", "chunkprep_flows.cli")
SIZE = "BENCH_CONSTANT_BYTES"
"""The environment variable that tells the workers how many bytes the constant has."""
START_SECONDS = 120


def constant_app() -> FastAPI:
    """One worker's app: the service with a route more, which reads a body and answers a constant
    through the same middleware, metrics and request log.
    """
    answer = b'"' + b"x" * (int(os.environ[SIZE]) - 2) + b'"'
    router = APIRouter(route_class=BodyRoute)

    @router.post("/constant")
    async def constant(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    app = app_from_environment(router)
    app.router.routes.insert(0, app.router.routes.pop())  # found first, as quickly as can be
    return app


@contextmanager
def packing(store: str, workers: int) -> Iterator[str]:
    """The root of a `chunkprep serve` over the store."""
    port = _free_port()
    options = ("--store", store, "--port", str(port), "--workers", str(workers))
    with _running([*CHUNKPREP, "serve", *options], port) as url:
        yield url


@contextmanager
def constant(store: str, workers: int, size: int) -> Iterator[str]:
    """The root of the same server with `constant_app`, answers of `size` bytes."""
    port = _free_port()
    command = [sys.executable, __file__, store, str(port), str(workers)]
    with _running(command, port, {SIZE: str(size)}) as url:
        yield url


@contextmanager
def _running(
    command: Sequence[str], port: int, variables: dict[str, str] | None = None
) -> Iterator[str]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, **(variables or {})}
    with subprocess.Popen(command, env=environment, **quiet) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, process)
            yield url
        finally:
            process.terminate()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the service is ready. Raises SystemExit where it does not start."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/readyz"):
                return
        except urllib.error.URLError:
            time.sleep(0.1)
    raise SystemExit("the service did not start")


def total(url: str, figure: str) -> float:
    """A figure of `/metrics`, summed over its labels."""
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    return sum(map(float, re.findall(rf"^{figure}(?:{{.*}})? (\S+)$", text, re.MULTILINE)))


def processor_seconds(url: str) -> float:
    """Processor time so far of the service at this root, which this process has started."""
    port = url.rpartition(":")[2]
    [first] = [each for each in psutil.Process().children() if port in each.cmdline()]
    times = [each.cpu_times() for each in (first, *first.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def database_seconds(store: str) -> float:
    """Processor time so far of the PostgreSQL server on this machine that holds the store, those of
    its processes that have ended included; 0 for a SQLite file.
    """
    if store.startswith("sqlite"):
        return 0.0
    with psycopg.connect(store) as connection:
        server = psutil.Process(connection.info.backend_pid).parent()
        assert server is not None
        times = [server.cpu_times(), *(each.cpu_times() for each in server.children())]
    ended = times[0].children_user + times[0].children_system
    return float(ended + sum(each.user + each.system for each in times))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def main(store: str, port: str, workers: str) -> None:
    """Serve the constant until stopped."""
    run_server(
        ServiceSettings(store), "127.0.0.1", int(port), int(workers), app="serving:constant_app"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
