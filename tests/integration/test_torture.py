"""The short form of `make torture`: kills, crowds and the feed's mirror, on both databases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "torture.py"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_the_laws_hold_under_kills_and_crowds(kind: str) -> None:
    sizes = {
        "kills": 6, "documents": 30, "writers": 4, "ingests": 80, "shared": 8, "identical": 20,
        "scale": 10,
    }  # fmt: skip
    options = [part for name, value in sizes.items() for part in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, SCRIPT, "--store", kind, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("held:") == 7
    assert "FAILED" not in done.stdout
