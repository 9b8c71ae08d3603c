"""A real Dask cluster on this machine: a scheduler and workers as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 120


@dataclass(frozen=True)
class Cluster:
    """Where the scheduler is, and the processes of its workers."""

    address: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill_one(self) -> None:
        """End the first worker as a machine ends that loses its power."""
        self.workers[0].send_signal(signal.SIGKILL)
        self.workers[0].wait()


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A scheduler on a free port of the loopback with so many workers of one thread.

    They work in `folder`, which should not be the folder of what they are asked to do.
    """
    folder.mkdir()
    file = folder / "scheduler.json"
    where = ["--scheduler-file", str(file)]
    with ExitStack() as stack:
        at = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        stack.enter_context(_dask(folder, "scheduler", *at, *where))
        address = _address(file)
        alone = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory"]
        started = tuple(
            stack.enter_context(
                _dask(folder, "worker", *where, *alone, str(folder / f"worker-{n}"))
            )
            for n in range(workers)
        )
        yield Cluster(address, started)


def _address(file: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if file.exists() and file.read_text().strip():
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.1)
    raise AssertionError("the Dask scheduler did not start")


@contextmanager
def _dask(folder: Path, role: str, *args: str) -> Iterator[subprocess.Popen[bytes]]:
    log = folder / f"{role}-{len(list(folder.glob('*.log')))}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", role, *args],
            cwd=folder, env=dict(os.environ), stdout=output, stderr=output,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
