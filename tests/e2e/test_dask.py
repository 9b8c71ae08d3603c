"""The Dask runner on a real cluster, with PostgreSQL as the store of its workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.e2e.conftest import SAMPLES, Cli, Process
from tests.support.dask_cluster import Cluster, dask_cluster

from chunkprep_store import Store
from chunkprep_store.tables import chunks, versions

pytestmark = [pytest.mark.prefect, pytest.mark.postgres]

DOCUMENTS = 1000


def write_documents(folder: Path) -> None:
    """Small documents that each have a few chunks."""
    folder.mkdir()
    for n in range(DOCUMENTS):
        parts = (
            f"## Part {p}\n\nRule {p} of club {n} holds on day {n * p % 31}.\n" for p in (1, 2, 3)
        )
        (folder / f"club-{n:04}.md").write_text(f"# Club {n}\n\n" + "\n".join(parts))


def versions_written(url: str) -> int:
    with Store.open(url) as store, store.database.snapshot() as connection:
        return int(connection.scalar(sa.select(sa.func.count()).select_from(versions)) or 0)


def chunk_ids(url: str) -> list[str]:
    with Store.open(url) as store, store.database.snapshot() as connection:
        return sorted(connection.scalars(sa.select(chunks.c.chunk_id)))


def kill_mid_run(cluster: Cluster, url: str, run: subprocess.Popen[str]) -> int:
    """Kill a worker once a tenth is written; how many versions were there when it was dead."""
    while versions_written(url) < DOCUMENTS // 10:
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    cluster.kill_one()
    return versions_written(url)


@pytest.mark.slow
def test_a_worker_killed_mid_run_loses_nothing(
    prefect_api: str, cli: Cli, postgres_url: str, tmp_path: Path
) -> None:
    write_documents(tmp_path / "docs")
    cli.ingest("docs", "--store", "sqlite:///one.db", "--cap", 64)
    with dask_cluster(tmp_path / "cluster", workers=2) as cluster:
        command = ["ingest", "docs", "--json", "--cap", "64", "--store", postgres_url]
        command += ["--runner", "dask", "--dask-address", cluster.address, "--workers", "2"]
        with subprocess.Popen(
            [sys.executable, "-m", "chunkprep_flows.cli", *command],
            cwd=tmp_path, env={**os.environ, "PREFECT_API_URL": prefect_api}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as run:  # fmt: skip
            there = kill_mid_run(cluster, postgres_url, run)
            out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert there < DOCUMENTS, "the worker was to die before the end"
    report = json.loads(out)
    assert (report["seen"], report["failed"]) == (DOCUMENTS, 0)
    assert report["new"] + report["unchanged"] == DOCUMENTS
    assert versions_written(postgres_url) == DOCUMENTS
    assert chunk_ids(postgres_url) == chunk_ids("sqlite:///one.db")
    assert not cli.lines("audit", "--store", postgres_url, "--recount", "all", "--sources", "docs")
    again = cli.ingest("docs", "--store", postgres_url)
    assert again["unchanged"] == DOCUMENTS


def test_a_cluster_of_its_own_gives_what_one_process_gives(
    prefect_api: str, cli: Cli, process: Process, postgres_url: str
) -> None:
    cli.ingest(SAMPLES, "--store", "sqlite:///one.db")
    args = ["ingest", SAMPLES, "--runner", "dask", "--workers", 2, "--json"]
    done = process(*args, "--store", postgres_url, env={"PREFECT_API_URL": prefect_api})
    assert done.returncode == 0, done.stderr
    assert chunk_ids(postgres_url) == chunk_ids("sqlite:///one.db")


def test_a_cluster_elsewhere_needs_a_store_that_it_can_share(process: Process) -> None:
    args = ["ingest", SAMPLES, "--runner", "dask", "--dask-address", "tcp://192.0.2.1:8786"]
    done = process(*args)
    assert done.returncode == 2
    assert "cannot share the SQLite file of --store" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
