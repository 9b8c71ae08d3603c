"""A run that is told to stop ends between two documents, says so, and the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli
from tests.support.stopping import Running

DOCUMENTS = 200
TEXT = "Some words of a sentence that goes on. " * 200


def make_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"d{number:03}.md").write_text(f"# D{number}\n\n{TEXT}\n")


def stop_when_under_way(running: subprocess.Popen[str], store: Path, number: int) -> None:
    """Send the signal once the first documents are committed."""
    import sqlite3

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        if store.exists():
            database = sqlite3.connect(store)
            try:
                found = database.execute("SELECT count(*) FROM versions").fetchone()[0]
            except sqlite3.OperationalError:
                found = 0
            finally:
                database.close()
            if found:
                break
        time.sleep(0.02)
    running.send_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("prefect", [False, pytest.param(True, marks=pytest.mark.prefect)])
def test_a_stopped_run_ends_at_a_document_and_the_next_one_goes_on(
    cli: Cli, request: pytest.FixtureRequest, number: int, prefect: bool
) -> None:
    env = dict(os.environ)
    if prefect:
        env["PREFECT_API_URL"] = request.getfixturevalue("prefect_api")
    make_documents(cli.folder / "docs")
    command = [sys.executable, "-m", "chunkprep_flows.cli", "ingest", "docs", "--json"]
    running = subprocess.Popen(
        [*command, *([] if prefect else ["--direct"])],
        cwd=cli.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    stop_when_under_way(running, cli.folder / "chunkprep.db", number)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 1, err
    report = json.loads(out)
    assert report["stopped"]
    assert 0 < report["new"] < DOCUMENTS
    assert "stopping after the documents at hand" in err
    again = cli.ingest("docs")
    assert again["unchanged"] == report["new"]
    assert again["new"] == DOCUMENTS - report["new"]


@pytest.mark.parametrize("prefect", [False, pytest.param(True, marks=pytest.mark.prefect)])
def test_ctrl_c_while_workers_start_is_the_runs_to_handle(
    cli: Cli, request: pytest.FixtureRequest, prefect: bool
) -> None:
    env = {"PREFECT_API_URL": request.getfixturevalue("prefect_api")} if prefect else {}
    make_documents(cli.folder / "docs")
    command = ["ingest", "docs", "--runner", "process", "--workers", "2", "--json"]
    running = Running(cli.folder, *command, *([] if prefect else ["--direct"]), env=env)
    stopped = running.stop_once(lambda: "spawn_main" in str(running.living()), group=True)
    stopped.check()
    assert json.loads(stopped.out)["stopped"]
    assert stopped.err.count("\n") < 8, stopped.err
