"""What a retrieval service runs with the base install: reading, packing, proving, auditing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.e2e.conftest import Cli
from tests.support.base_install import BLOCK, EXTRAS, REPORT, without

MAIN = "from chunkprep_flows.cli import main\nmain()\n"
SCRIPT = BLOCK + MAIN


@pytest.mark.parametrize(
    "command",
    [
        "docs",
        "chunks policies/refund-2026.md --json",
        "search refund --json",
        "pack --budget 900 --candidates candidates.jsonl",
        "replay --verify",
        "impact policies/refund-2026.md",
        "audit --recount all",
        "report",
        "withdraw notes/app-release.txt --reason old",
    ],
)
def test_it_does_without_the_extras(ingested: Cli, command: str) -> None:
    lines = ingested("search", "refund", "--json").stdout
    (ingested.folder / "candidates.jsonl").write_text(lines)
    ingested("pack", "--budget", 900, "--candidates", "candidates.jsonl")
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command.split()], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [("ingest samples --direct", "ingest"), ("report --out report.html", "report")],
)
def test_what_needs_an_extra_says_which(ingested: Cli, command: str, extra: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command.split()], capture_output=True, text=True
    )
    assert run.returncode == 2
    assert f"pip install 'chunkprep[{extra}]'" in run.stderr


def test_the_file_of_the_report_needs_its_extra_and_no_server(ingested: Cli) -> None:
    script = without(set(EXTRAS) - set(REPORT)) + MAIN
    run = subprocess.run(
        [sys.executable, "-c", script, "report", "--out", "report.html"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert (ingested.folder / "report.html").stat().st_size > 100_000
