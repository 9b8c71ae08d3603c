"""The Prefect flow gives what the direct runner gives, and leaves a trace in Prefect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import SAMPLES, Cli, Process

from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_store import Store

pytestmark = pytest.mark.prefect


def chunk_ids(cli: Cli, store: str) -> dict[str, list[str]]:
    return {
        doc["document"]: [
            chunk["chunk_id"] for chunk in cli.lines("chunks", doc["document"], "--store", store)
        ]
        for doc in cli.lines("docs", "--store", store)
    }


def without_run(report: dict[str, Any]) -> dict[str, Any]:
    own = {"run_id", "flow_run_id", "seconds"}
    return {name: value for name, value in report.items() if name not in own}


@pytest.mark.parametrize("runner", ["thread", "process"])
def test_the_flow_gives_what_the_direct_runner_gives(
    prefect_api: str, cli: Cli, runner: str
) -> None:
    by_flow, direct = "sqlite:///flow.db", "sqlite:///direct.db"
    args = ["ingest", SAMPLES, "--workers", 2, "--runner", runner, "--store", by_flow]
    report = cli.json(*args)
    expected = cli.ingest(SAMPLES, "--store", direct)
    assert without_run(report) == without_run(expected)
    assert chunk_ids(cli, by_flow) == chunk_ids(cli, direct)


def test_one_task_for_each_batch_and_an_artifact(prefect_api: str, tmp_path: Path) -> None:
    from prefect import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    from chunkprep_flows.ingest_documents import ARTIFACT, ingest_documents

    settings = IngestSettings(
        sources=(str(SAMPLES / "policies"),),
        store=f"sqlite:///{tmp_path / 'a.db'}",
        batch_documents=2,
    )
    report = ingest_documents(settings)
    assert report.new == 4
    wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[ARTIFACT]))
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(artifact_filter=wanted)
        [artifact] = [a for a in found if report.run_id in (a.description or "")]
        flow_run = client.read_flow_run(artifact.flow_run_id)  # type: ignore[arg-type]
    rows = json.loads(str(artifact.data))
    assert {row["document"] for row in rows} == {d.document for d in report.documents}
    assert flow_run.state_name == "Completed"
    with Store.open(settings.store) as store:
        [record] = store.runs(settings.collection)
    assert record.run_id == report.run_id
    assert record.flow_run_id == report.flow_run_id == str(flow_run.id)


def test_a_failed_document_fails_no_flow_and_is_exit_1(
    prefect_api: str, process: Process, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "docs" / "b.md").write_text("")
    done = process("ingest", "docs", "--json", env={"PREFECT_API_URL": prefect_api})
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["new"], report["failed"]) == (1, 1)
    assert "Traceback" not in done.stderr


def test_with_no_api_configured_a_private_server_is_started_and_announced(
    process: Process, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    done = process("ingest", "a.md", "--json", env={"HOME": str(home), "PREFECT_API_URL": ""})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new"] == 1
    assert "no Prefect API is configured" in done.stderr
    assert not (home / ".prefect").exists()
