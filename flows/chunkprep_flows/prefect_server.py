"""A private Prefect server with all its services: what a schedule needs.

Prefect's ephemeral server, which is enough for a single flow run, starts no scheduler.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from chunkprep_ingest.errors import ChunkprepError


@contextmanager
def full_server(folder: Path, *, timeout: float) -> Iterator[str]:
    """A server on a free port of the loopback, its database and log in `folder`; yields its API's
    address.

    It runs in a session of its own, so that Ctrl-C does not end it before its flows. Raises
    ChunkprepError where it does not answer within `timeout` seconds.
    """
    port = free_port()
    log = folder / "server.log"
    database = f"sqlite+aiosqlite:///{(folder / 'prefect.db').as_posix()}"
    env = {
        **os.environ,
        "PREFECT_HOME": str(folder),
        "PREFECT_API_DATABASE_CONNECTION_URL": database,
    }
    env.pop("PREFECT_API_URL", None)
    command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
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
