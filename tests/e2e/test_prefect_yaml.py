"""prefect.yaml: Prefect's own command deploys all of it, and every entry point is a flow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.conftest import ROOT

pytestmark = pytest.mark.prefect

DEPLOYMENTS = {"ingest", "sync", "audit", "prune", "recount"}


def prefect(*args: str, api: str, folder: Path) -> None:
    env = {**os.environ, "PREFECT_API_URL": api, "CHUNKPREP_DOCS": "/srv/docs"}
    env["CHUNKPREP_STORE"] = "postgresql://keeper@db/chunkprep"
    done = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", *args],
        cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_prefect_deploys_the_file(prefect_api: str, tmp_path: Path) -> None:
    from prefect import Flow, get_client
    from prefect.client.schemas.filters import WorkPoolFilter, WorkPoolFilterName
    from prefect.flows import load_flow_from_entrypoint

    prefect(
        "work-pool", "create", "chunkprep", "--type", "process", api=prefect_api, folder=tmp_path
    )
    file = str(ROOT / "prefect.yaml")
    prefect("deploy", "--all", "--prefect-file", file, api=prefect_api, folder=tmp_path)
    pool = WorkPoolFilter(name=WorkPoolFilterName(any_=["chunkprep"]))
    with get_client(sync_client=True) as client:
        deployed = {d.name: d for d in client.read_deployments(work_pool_filter=pool)}
    assert set(deployed) == DEPLOYMENTS
    for deployment in deployed.values():
        assert deployment.entrypoint is not None
        flow: Flow[..., Any] = load_flow_from_entrypoint(deployment.entrypoint)
        checked = flow.validate_parameters(deployment.parameters)
        assert checked["settings"].store == "postgresql://keeper@db/chunkprep"
        assert set(deployment.tags) == {"chunkprep", f"collection:{checked['settings'].collection}"}
        assert deployment.concurrency_options or deployment.global_concurrency_limit


def test_every_deployment_has_a_concurrency_of_one() -> None:
    listed = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    assert {d["name"] for d in listed} == DEPLOYMENTS
    assert all(d["concurrency_limit"]["limit"] == 1 for d in listed)
