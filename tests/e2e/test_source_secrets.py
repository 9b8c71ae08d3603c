"""A source with a password: by a reference it is read, and nobody is shown the password."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.e2e.conftest import Cli, Process

from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_store import Store

SECRET = "s3cr@t/pw"


class Guarded(BaseHTTPRequestHandler):
    """One document, for whoever knows the password."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        known = b64encode(f"reader:{SECRET}".encode()).decode()
        there = self.headers.get("Authorization") == f"Basic {known}"
        body = b"# Handbook\n\nOnly for readers.\n" if there else b""
        self.send_response(200 if there else 401)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def everything(folder: Path) -> str:
    """All that the store holds, as it stands in its files."""
    return "".join(file.read_bytes().decode("latin-1") for file in folder.glob("chunkprep.db*"))


def test_a_reference_is_read_from_the_environment(
    cli: Cli, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"http://reader:${{DOCS_PASSWORD}}@{host}/handbook.md"
    mirror = ("--mirror", cli.folder / "m")
    refused = cli("ingest", source, "--direct", *mirror, code=2)
    assert "${DOCS_PASSWORD} is not set" in refused.stderr
    monkeypatch.setenv("DOCS_PASSWORD", "wrong-one")
    failed = cli("ingest", source, "--direct", *mirror, code=1)
    assert "check the URL and its credentials" in failed.stderr
    assert "wrong-one" not in failed.output
    monkeypatch.setenv("DOCS_PASSWORD", SECRET)
    assert cli.ingest(source, *mirror)["new"] == 1
    assert cli.lines("docs", "--json")[0]["document"] == "handbook.md"
    held = everything(cli.folder)
    assert SECRET not in held
    assert "s3cr%40t" not in held
    assert "${DOCS_PASSWORD}" in held


@pytest.mark.prefect
def test_prefect_holds_the_reference_alone(
    prefect_api: str, cli: Cli, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect import get_client
    from prefect.client.schemas.filters import (
        ArtifactFilter,
        ArtifactFilterFlowRunId,
        LogFilter,
        LogFilterFlowRunId,
    )

    from chunkprep_flows.ingest_documents import ingest_documents

    monkeypatch.setenv("DOCS_PASSWORD", SECRET)
    bad = f"http://reader:{SECRET.replace('/', '%2F').replace('@', '%40')}x@{host}/other.md"
    good = f"http://reader:${{DOCS_PASSWORD}}@{host}/handbook.md"
    settings = IngestSettings(sources=(good,), store=cli.url, mirror=str(cli.folder / "m"))
    ran = ingest_documents(settings)
    assert (ran.new, ran.failed) == (1, 0)
    wrong = ingest_documents(settings.model_copy(update={"sources": (bad,)}))
    assert wrong.failed == 1
    with get_client(sync_client=True) as client:
        first = client.read_flow_run(UUID(ran.flow_run_id))
        ids = [first.id, client.read_flow_run(UUID(wrong.flow_run_id)).id]
        told = [
            log.message
            for log in client.read_logs(LogFilter(flow_run_id=LogFilterFlowRunId(any_=ids)))
        ]
        left = client.read_artifacts(
            artifact_filter=ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=ids))
        )
    assert "${DOCS_PASSWORD}" in str(first.parameters)
    shown = str([first.parameters, told, [artifact.data for artifact in left], wrong])
    assert "s3cr" not in shown
    with Store.open(cli.url) as store:
        assert "s3cr" not in str([store.failures("default"), store.runs("default")])


@pytest.mark.prefect
def test_a_password_that_is_written_out_is_warned_of(
    prefect_api: str, cli: Cli, host: str, process: Process
) -> None:
    source = f"http://reader:wr0ng-pw@{host}/a.md"
    ran = process(
        "ingest", source, "--mirror", cli.folder / "m", env={"PREFECT_API_URL": prefect_api}
    )
    assert ran.returncode == 1
    assert f"warning: Prefect stores http://{host}/a.md with the password" in ran.stderr
    assert "wr0ng-pw" not in ran.stdout + ran.stderr
