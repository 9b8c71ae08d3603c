"""A command that is stopped at a moment, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

WAIT_SECONDS = 120
MARK = "STOPPED_BY_A_TEST"
CHUNKPREP = (sys.executable, "-m", "chunkprep_flows.cli")


@dataclass(frozen=True)
class Stopped:
    """How a command ended; `seconds` from the signal to its end, `orphans` are command lines."""

    code: int
    out: str
    err: str
    seconds: float
    orphans: tuple[str, ...]

    def check(self) -> None:
        """It found the end of an interruption: a line, exit code 1, and nothing that lives on."""
        assert self.code == 1, self.err
        assert "Traceback" not in self.err
        assert self.orphans == ()


class Running:
    """A command in a session of its own, whose processes can be told from others'."""

    def __init__(
        self,
        folder: Path,
        *args: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = CHUNKPREP,
    ) -> None:
        self._mark = uuid4().hex
        self._out = folder / "stdout.txt"
        self._err = folder / "stderr.txt"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [*program, *args],
                cwd=folder, env={**os.environ, **(env or {}), MARK: self._mark},
                stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip

    @property
    def said(self) -> str:
        """What it said on stderr up to now."""
        return self._err.read_text()

    def living(self) -> tuple[str, ...]:
        """The command lines of its processes, its own among them."""
        return marked(self._mark)

    def stop_once(self, ready: Callable[[], object], *, group: bool = False) -> Stopped:
        """Stop it once it is `ready`: as a terminal does it, by Ctrl-C for the whole group, or as a
        supervisor does, by SIGTERM for the one process.
        """
        try:
            wait_until(lambda: ready() or self.process.poll() is not None)
            assert self.process.poll() is None, f"it ended by itself: {self.said}"
            started = time.monotonic()
            if group:
                os.killpg(self.process.pid, signal.SIGINT)
            else:
                self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(WAIT_SECONDS)
            seconds = time.monotonic() - started
            return Stopped(code, self._out.read_text(), self.said, seconds, self._left())
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _left(self) -> tuple[str, ...]:
        """Processes that it started and that live on, after a moment for those that are ending."""
        deadline = time.monotonic() + 3
        while (found := marked(self._mark)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found


def marked(mark: str) -> tuple[str, ...]:
    """The command lines of living processes with the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(line.decode(errors="replace"))
    return tuple(found)


def wait_until(happened: Callable[[], object]) -> None:
    """Return once it happened."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if happened():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")
