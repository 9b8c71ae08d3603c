"""prefect.yaml: Prefect's own command deploys all of it, and every entry point is a flow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.conftest import ROOT

from chunkprep_store import Store

pytestmark = pytest.mark.prefect

DEPLOYMENTS = {"ingest", "sync", "audit", "prune", "recount"}


STORE = "postgresql://keeper@db/chunkprep"


def prefect(
    *args: str,
    api: str,
    folder: Path,
    docs: str | None = "/srv/docs",
    store: str = STORE,
    code: int = 0,
) -> str:
    """Prefect's own command, held to its exit code; what it said."""
    env = {**os.environ, "PREFECT_API_URL": api, "CHUNKPREP_STORE": store}
    if docs is not None:
        env["CHUNKPREP_DOCS"] = docs
    done = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", *args],
        cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def pool(prefect_api: str, tmp_path: Path) -> str:
    """The work pool that the file names."""
    create = ("work-pool", "create", "chunkprep", "--type", "process", "--overwrite")
    prefect(*create, api=prefect_api, folder=tmp_path)
    return "chunkprep"


def test_prefect_deploys_the_file(prefect_api: str, pool: str, tmp_path: Path) -> None:
    from prefect import Flow, get_client
    from prefect.client.schemas.filters import WorkPoolFilter, WorkPoolFilterName
    from prefect.flows import load_flow_from_entrypoint

    file = str(ROOT / "prefect.yaml")
    prefect("deploy", "--all", "--prefect-file", file, api=prefect_api, folder=tmp_path)
    of_pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[pool]))
    with get_client(sync_client=True) as client:
        deployed = {d.name: d for d in client.read_deployments(work_pool_filter=of_pool)}
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


def test_a_worker_needs_no_copy_of_the_folder_that_was_deployed(
    prefect_api: str, pool: str, tmp_path: Path
) -> None:
    from prefect import get_client

    checkout, docs, elsewhere = (tmp_path / n for n in ("checkout", "docs", "elsewhere"))
    for folder in (checkout, docs, elsewhere):
        folder.mkdir()
    (docs / "a.md").write_text("# A\n\nText.\n")
    shutil.copy(ROOT / "prefect.yaml", checkout)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    deploy = ("deploy", "--name", "ingest")
    prefect(*deploy, api=prefect_api, folder=checkout, docs=str(docs), store=store)
    checkout.rename(tmp_path / "gone")
    prefect("deployment", "run", "ingest-documents/ingest", api=prefect_api, folder=elsewhere)
    worker = ("worker", "start", "--pool", pool, "--run-once")
    said = prefect(*worker, api=prefect_api, folder=elsewhere)
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("ingest-documents/ingest")
    assert deployment.pull_steps == []
    with Store.open(store, create=False) as opened:
        assert [d.document for d in opened.documents("default")] == ["a.md"], said


@pytest.mark.parametrize("name", ["ingest", "audit"])
def test_without_the_documents_named_it_is_not_deployed(
    prefect_api: str, pool: str, tmp_path: Path, name: str
) -> None:
    file = str(ROOT / "prefect.yaml")
    args = ("deploy", "--name", name, "--prefect-file", file)
    said = prefect(*args, api=prefect_api, folder=tmp_path, docs=None, code=1)
    assert "Validation failed for field 'settings.sources" in said
