"""`chunkprep serve` as a process on a free port, and what a client sees of it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.support.stopping import wait_until

START_SECONDS = 60


@dataclass
class Served:
    """A running service."""

    process: subprocess.Popen[bytes]
    client: httpx.Client
    log: Path

    @property
    def url(self) -> str:
        """Its root."""
        return str(self.client.base_url).rstrip("/")

    @property
    def port(self) -> int | None:
        """Where it listens."""
        return self.client.base_url.port

    def get(self, path: str, key: str | None = None, **params: object) -> httpx.Response:
        """GET with query parameters."""
        return self.client.get(path, params={k: str(v) for k, v in params.items()},
                               headers=bearer(key))  # fmt: skip

    def post(self, path: str, body: Any, key: str | None = None) -> httpx.Response:
        """POST a JSON value, or bytes as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(path, content=content, headers=bearer(key))

    def candidates(self, query: str, **search: object) -> list[dict[str, Any]]:
        """Candidates for a pack, out of a search."""
        hits = self.post("/v1/search", {"query": query, **search}).json()["hits"]
        return [{"chunk_id": hit["chunk_id"], "score": hit["score"]} for hit in hits]

    def stop(self) -> int:
        """Ask it to end, as an orchestrator does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=START_SECONDS)

    def lines(self) -> list[dict[str, Any]]:
        """The JSON log lines so far."""
        texts = self.log.read_text().splitlines()
        return [json.loads(line) for line in texts if line.startswith("{")]

    def line(self, **fields: object) -> dict[str, Any]:
        """The one JSON log line with these fields; a request's may come just after its answer."""

        def found() -> list[dict[str, Any]]:
            return [
                line
                for line in self.lines()
                if all(line.get(name) == value for name, value in fields.items())
            ]

        wait_until(found)
        [line] = found()
        return line

    def metric(self, name: str) -> float:
        """The sum of a figure over its labels."""
        found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return sum(map(float, found))


def bearer(key: str | None) -> dict[str, str]:
    """The headers that carry a key."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(store: str, folder: Path, *options: str, port: int | None = None) -> Iterator[Served]:
    """Run `chunkprep serve` until the block ends."""
    port, log = port or free_port(), folder / "serve.log"
    command = [sys.executable, "-m", "chunkprep_flows.cli", "serve", "--store", store]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "--port", str(port), *options], cwd=folder, stderr=stderr,
            env=dict(os.environ),
        )  # fmt: skip
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                _await(client, process, log)
                yield Served(process, client, log)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=START_SECONDS)


def _await(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.get("/healthz")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the service did not start:\n{log.read_text()}")
