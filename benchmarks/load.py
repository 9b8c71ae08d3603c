"""Load from wrk, a load generator written in C, on loopback: it takes little of the processors that
the service is measured on.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

SCRIPT = Path(__file__).with_name("load.lua")
MISSING = (
    "wrk, the load generator, is not installed; `apt-get install wrk` (or your system's package of "
    "that name), then run this again"
)


class Load(NamedTuple):
    """What one run of the load generator saw. `failed`: answers over 399, lost connections and
    answers that did not come in time.
    """

    requests: int
    seconds: float
    bytes: int
    p50_ms: float
    p99_ms: float
    failed: int

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.requests / self.seconds


def require_wrk() -> None:
    """Raises SystemExit, which says what to install, where wrk is missing."""
    if shutil.which("wrk") is None:
        raise SystemExit(MISSING)


def post(url: str, bodies: Path, key: str, *, concurrency: int, seconds: int) -> Load:
    """POST the lines of `bodies` in turn over `concurrency` connections, each as soon as the answer
    before has come.
    """
    command = [
        *("wrk", "-t1", f"-c{concurrency}", f"-d{seconds}s", "--timeout", "10s"),
        *("-s", str(SCRIPT), url, "--", str(bodies), key),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Load(**json.loads(done.stdout.splitlines()[-1]))
