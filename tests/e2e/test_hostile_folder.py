"""A folder of files that want to break the run, and fifty good ones among them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import hostile

SECONDS = 20
MEMORY = 512  # MiB for a reader
MOST = 2 << 30  # bytes for any process of the run
BOUND = 300  # seconds; a run that waits for a pipe waits for ever


def ingest(folder: Path, *more: Path) -> tuple[Any, int]:
    """The report of a run in a process of its own, and the peak memory of its largest process."""
    command = [sys.executable, "-m", "chunkprep_flows.cli", "ingest", str(folder), *map(str, more)]
    limits = ["--read-seconds", str(SECONDS), "--read-memory", str(MEMORY)]
    with (folder.parent / "report.json").open("w+") as out:
        run = subprocess.Popen(
            [*command, "--direct", "--json", *limits],
            cwd=folder.parent, stdout=out, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        killer = hostile.kill_after(run, BOUND)
        _, status, usage = os.wait4(run.pid, 0)  # its children, who were waited for, included
        run.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        assert run.returncode == 1
        out.seek(0)
        return json.load(out), usage.ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in Linux's units")
def test_every_bad_file_has_its_code_and_every_good_one_is_ingested(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    good = hostile.make_good(folder) + hostile.make_readable(folder)
    expected = hostile.make_bad(folder)
    pipe, socket = folder / "pipe.md", folder / "socket.md"
    hostile.make_pipe(pipe)
    hostile.make_socket(socket)
    expected |= dict.fromkeys((pipe.name, socket.name), "unreadable")

    report, memory = ingest(folder, pipe, socket)

    outcomes = {d["document"]: d for d in report["documents"]}
    failed = {name: d["error"]["code"] for name, d in outcomes.items() if d["error"]}
    assert failed == expected
    assert all(d["error"]["remedy"] for d in outcomes.values() if d["error"])
    assert {name for name, d in outcomes.items() if d["outcome"] == "new"} == set(good)
    assert all(outcomes[name]["coverage"] == 1 for name in good)
    assert len(outcomes) == len(report["documents"]) == len(good) + len(expected)
    assert memory < MOST
