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
