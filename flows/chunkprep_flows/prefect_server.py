"""Private Prefect servers: one with all its services, which a schedule needs, and a small one for a
single flow run.

The terminal sends Ctrl-C to all processes; a server has to outlive it until the flow has reported
how far it came.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from chunkprep_flows.interrupt import deaf_children
from chunkprep_ingest.errors import ChunkprepError

_APP = ("uvicorn", "--factory", "prefect.server.api.server:create_app", "--log-level", "error")
_SMALL = {
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    "PREFECT_UI_ENABLED": "0",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "0",  # a second less, and no use for them
}
"""As Prefect starts the server for a flow that has none."""


@contextmanager
def full_server(folder: Path, *, timeout: float) -> Iterator[str]:
    """A server with a scheduler, as `_server`."""
    with _server(folder, ("prefect", "server", "start", "--no-ui"), {}, timeout) as api:
        yield api


@contextmanager
def small_server(folder: Path, *, timeout: float) -> Iterator[str]:
    """A server without one, as `_server`: it is there sooner."""
    with _server(folder, _APP, _SMALL, timeout) as api:
        yield api


@contextmanager
def _server(
    folder: Path, command: Sequence[str], settings: Mapping[str, str], timeout: float
) -> Iterator[str]:
    """A server on a free port of the loopback, its database and log in `folder`; yields its API's
    address.

    Raises ChunkprepError where it does not answer within `timeout` seconds.
    """
    port = free_port()
    log = folder / "server.log"
    database = f"sqlite+aiosqlite:///{(folder / 'prefect.db').as_posix()}"
    env = {
        **os.environ,
        **settings,
        "PREFECT_HOME": str(folder),
        "PREFECT_API_DATABASE_CONNECTION_URL": database,
    }
    env.pop("PREFECT_API_URL", None)
    at = ("--host", "127.0.0.1", "--port", str(port))
    with log.open("wb") as output, deaf_children():
        server = subprocess.Popen(
            [sys.executable, "-m", *command, *at],
            env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        api = f"http://127.0.0.1:{port}/api"
        wait_until_healthy(api, server, log, timeout)
        yield api
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_until_healthy(
    api: str, server: subprocess.Popen[bytes], log: Path, timeout: float
) -> None:
    """Return once the API answers. Raises ChunkprepError with the end of its log."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urlopen(f"{api}/health", timeout=5):  # noqa: S310 - our own address
                return
        except (URLError, OSError):
            time.sleep(0.2)
    said = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
    raise ChunkprepError(
        f"a private Prefect server did not start in {timeout:.0f} s; set PREFECT_API_URL to one "
        f"that runs ({said})"
    )


def free_port() -> int:
    """A port of the loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
