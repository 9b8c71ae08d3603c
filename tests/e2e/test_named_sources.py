"""What a source may be called on the command line and in a deployment's parameters."""

from __future__ import annotations

import pytest
from tests.e2e.conftest import Cli

from chunkprep_flows.audit_settings import AuditSettings
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_ingest.errors import RequestError


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize(
    "command", [("ingest", "--direct"), ("schedule", "--every", "60"), ("audit", "--sources")]
)
def test_an_empty_source_is_not_the_working_directory(
    cli: Cli, command: tuple[str, ...], blank: str
) -> None:
    (cli.folder / "secret.md").write_text("# Not meant\n")
    said = cli(*command, blank, code=2).stderr
    assert "source 1 of 1 is empty" in said
    assert len(said.strip().splitlines()) == 1
    assert not (cli.folder / "chunkprep.db").exists()


@pytest.mark.parametrize("settings", [IngestSettings, AuditSettings])
def test_parameters_with_an_empty_source_are_refused(
    settings: type[IngestSettings | AuditSettings],
) -> None:
    with pytest.raises(RequestError, match="source 2 of 2 is empty"):
        settings.model_validate({"sources": ["docs", ""]})


def test_patterns_that_leave_out_everything_are_told(cli: Cli) -> None:
    (cli.folder / "docs" / "deep").mkdir(parents=True)
    (cli.folder / "docs" / "deep" / "a.md").write_text("# A\n")
    report = cli.ingest("docs", "--include", "*.rst")
    assert report["warnings"] == ["--include *.rst: leaves out all of 1 file"]
    assert report["seen"] == 0
    assert cli.ingest("docs/**", "--include", "*.md")["new"] == 1
    assert cli.ingest("docs", "--include", "*.md")["warnings"] == []


def test_failures_tell_of_a_source_that_never_was_a_document(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("# A\n")
    url = "http://127.0.0.1:9/x.md?signature=hush"
    cli.ingest("a.md", "nowhere.md", url, "--mirror", cli.folder / "m", code=1)
    said = cli("failures").stderr
    assert said.splitlines() == [
        "no document failed",
        "the latest ingest could not read the source http://127.0.0.1:9/x.md: unreadable: "
        "Connection refused",
        "the latest ingest could not read the source nowhere.md: unreadable: "
        "No such file or directory",
    ]
    (cli.folder / "a.md").write_bytes(b"")
    cli.ingest("a.md", "nowhere.md", code=1)
    listed = cli("failures", code=1)
    assert "no document failed" not in listed.stderr
    assert "could not read the source nowhere.md" in listed.stderr
    cli.ingest("a.md", code=1)
    assert cli("failures", code=1).stderr == ""


@pytest.mark.prefect
def test_a_flow_run_with_an_empty_source_fails_and_says_so(prefect_api: str) -> None:
    from chunkprep_flows.ingest_documents import ingest_documents

    state = ingest_documents({"sources": [""]}, return_state=True)
    assert state.is_failed()
    assert "source 1 of 1 is empty" in str(state.message)
