"""A run on Dask's workers that is told to stop ends between two documents; the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.e2e.conftest import Cli
from tests.support.dask_cluster import dask_cluster

from chunkprep_store import Store
from chunkprep_store.tables import versions

pytestmark = [pytest.mark.prefect, pytest.mark.postgres]

DOCUMENTS = 240
TEXT = "Some words of a sentence that goes on. " * 400


def write_documents(folder: Path) -> None:
    folder.mkdir()
    for n in range(DOCUMENTS):
        (folder / f"d{n:03}.md").write_text(f"# D{n}\n\n{TEXT}\n")


def written(url: str) -> int:
    with Store.open(url) as store, store.database.snapshot() as connection:
        return int(connection.scalar(sa.select(sa.func.count()).select_from(versions)) or 0)


def stop_when_under_way(running: subprocess.Popen[str], url: str, *, group: bool) -> None:
    """Send what a terminal sends, to the group, or what a supervisor sends, to the process."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None and not written(url):
        time.sleep(0.05)
    if group:
        os.killpg(running.pid, signal.SIGINT)
    else:
        running.send_signal(signal.SIGTERM)


def check_stop(cli: Cli, url: str, api: str, *args: str, group: bool) -> None:
    write_documents(cli.folder / "docs")
    command = ["ingest", "docs", "--json", "--store", url, "--runner", "dask", *args]
    with subprocess.Popen(
        [sys.executable, "-m", "chunkprep_flows.cli", *command],
        cwd=cli.folder, env={**os.environ, "PREFECT_API_URL": api}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as running:  # fmt: skip
        stop_when_under_way(running, url, group=group)
        out, err = running.communicate(timeout=240)
    assert running.returncode == 1, err
    assert "Traceback" not in err
    report = json.loads(out)
    assert report["stopped"]
    # All of the 240 were handed out in four batches: a worker that heard nothing ends with them.
    assert 0 < report["new"] < DOCUMENTS
    assert report["left"] == DOCUMENTS - report["new"]
    assert written(url) == report["new"]
    again = cli.ingest("docs", "--store", url)
    assert (again["unchanged"], again["new"]) == (report["new"], report["left"])


def test_workers_of_a_cluster_hear_of_sigterm(
    prefect_api: str, cli: Cli, postgres_url: str, tmp_path: Path
) -> None:
    with dask_cluster(tmp_path / "cluster", workers=2) as cluster:
        args = ["--dask-address", cluster.address, "--workers", "2"]
        check_stop(cli, postgres_url, prefect_api, *args, group=False)


def test_workers_of_its_own_hear_of_ctrl_c(prefect_api: str, cli: Cli, postgres_url: str) -> None:
    check_stop(cli, postgres_url, prefect_api, "--workers", "2", group=True)
