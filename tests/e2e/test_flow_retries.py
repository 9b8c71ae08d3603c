"""Trouble that may pass is tried again by the tasks of a run, before, at and after the reading;
other trouble never is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.outage import Outage, at_each_retry

from chunkprep_flows import transient
from chunkprep_flows.audit_settings import AuditSettings
from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.prefect_server import free_port
from chunkprep_flows.progress import Silent
from chunkprep_store import Store

pytestmark = [pytest.mark.prefect]


def tries(flow_run_id: str | None) -> dict[str, int]:
    """How often each task of a flow run was tried, by its name."""
    from prefect import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    wanted = FlowRunFilter(id=FlowRunFilterId.model_validate({"any_": [flow_run_id]}))
    deadline = time.monotonic() + 30  # task runs reach the server as events
    found: dict[str, int] = {}
    with get_client(sync_client=True) as client:
        while time.monotonic() < deadline and "finish-run" not in found:
            runs = client.read_task_runs(flow_run_filter=wanted)
            found = {run.name: run.run_count for run in runs}
            time.sleep(0.3)
    return found


class BreaksAfterReading(Silent):
    """Takes the database away once everything is read."""

    def __init__(self, outage: Outage) -> None:
        self.outage = outage

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        self.outage.begin()


@contextmanager
def heard_by(listener: Any) -> Iterator[None]:
    from chunkprep_flows import progress

    token = progress._listener.set(listener)
    try:
        yield
    finally:
        progress._listener.reset(token)


def settings_for(folder: Path, store: str) -> IngestSettings:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# A\n\nText.\n")
    return IngestSettings(sources=(str(folder / "docs"),), store=store)


@pytest.mark.postgres
def test_a_database_that_is_away_at_the_start_and_at_the_end_is_waited_for(
    prefect_api: str, postgres_url: str, postgres_server: str, tmp_path: Path
) -> None:
    from chunkprep_flows.audit_versions import audit_versions
    from chunkprep_flows.ingest_documents import ingest_documents

    settings = settings_for(tmp_path, postgres_url)
    outage = Outage(postgres_server, postgres_url)
    outage.begin()
    with heard_by(BreaksAfterReading(outage)), at_each_retry(outage.end):
        report = ingest_documents(settings)
    assert (report.new, report.failed) == (1, 0)
    tried = tries(report.flow_run_id)
    assert tried["start-run"] > 1
    assert tried["finish-run"] > 1
    assert tried["compare-with-store"] == 1
    with Store.open(postgres_url) as store:
        [run] = store.runs("default")
        assert run.finished_at is not None
    outage.begin()
    with at_each_retry(outage.end):
        audited = audit_versions(AuditSettings(store=postgres_url))
    assert audited.counts["error"] == 0


def test_a_store_that_is_not_there_is_not_waited_for(prefect_api: str, tmp_path: Path) -> None:
    from chunkprep_flows.audit_versions import audit_versions

    started = time.monotonic()
    state = audit_versions(
        AuditSettings(store=f"sqlite:///{tmp_path / 'none.db'}"), return_state=True
    )
    assert state.is_failed()
    assert time.monotonic() - started < sum(transient.DELAYS) / 2


def test_a_bucket_whose_server_comes_up_is_waited_for_and_a_wrong_name_is_not(
    prefect_api: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from moto.server import ThreadedMotoServer

    from chunkprep_flows.ingest_documents import ingest_documents

    port = free_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    settings = IngestSettings(
        sources=("s3://late",), store=f"sqlite:///{tmp_path / 'a.db'}", mirror=str(tmp_path / "m")
    )

    def come_up() -> None:
        import boto3  # type: ignore[import-untyped]

        if up:
            return
        up.append(True)
        server.start()
        client = boto3.client("s3")
        client.create_bucket(Bucket="late")
        client.put_object(Bucket="late", Key="a.md", Body=b"# A\n")
        client.close()

    up: list[bool] = []
    try:
        with at_each_retry(come_up):
            report = ingest_documents(settings)
        assert (report.new, report.failed) == (1, 0)
        assert tries(report.flow_run_id)["list-sources"] > 1
        wrong = ingest_documents(settings.model_copy(update={"sources": ("s3://elsewhere",)}))
        assert wrong.failed == 1
        assert tries(wrong.flow_run_id)["list-sources"] == 1
    finally:
        server.stop()
        import s3fs  # type: ignore[import-untyped]

        s3fs.S3FileSystem.clear_instance_cache()
