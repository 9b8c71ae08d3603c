"""A Dask scheduler or a Prefect API that is not there is one line: what, where, what to do."""

from __future__ import annotations

import pytest
from tests.e2e.conftest import Cli, Process

NOBODY = "tcp://127.0.0.1:1"
NO_API = {"PREFECT_API_URL": "http://127.0.0.1:9/api"}


@pytest.fixture
def docs(cli: Cli) -> Cli:
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "a.md").write_text("# A\n\nText.\n")
    return cli


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://host", "host:port", "a b:1"])
def test_what_is_no_address_of_a_scheduler_is_refused(docs: Cli, address: str) -> None:
    command = ["ingest", "docs", "--runner", "dask", "--dask-address", address]
    result = docs(*command, code=2)
    assert f"--dask-address {address!r} is no address" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["ingest", "--direct"], ["ingest"], ["schedule", "--every=9"]])
def test_a_scheduler_that_nobody_asks_is_refused(docs: Cli, command: list[str]) -> None:
    result = docs(*command, "docs", "--dask-address", NOBODY, code=2)
    assert f"--dask-address {NOBODY} is for --runner dask" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.prefect
def test_a_scheduler_that_is_away_is_one_line(
    prefect_api: str, docs: Cli, process: Process
) -> None:
    command = ["ingest", "docs", "--runner", "dask", "--dask-address", NOBODY]
    done = process(*command, env={"PREFECT_API_URL": prefect_api})
    assert done.returncode == 1
    assert f"the Dask scheduler at {NOBODY} does not answer" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.prefect
@pytest.mark.parametrize("command", [["ingest", "docs"], ["schedule", "docs", "--every", "60"]])
def test_a_prefect_api_that_is_away_is_one_line(
    docs: Cli, process: Process, command: list[str]
) -> None:
    done = process(*command, env=NO_API)
    assert done.returncode == 1
    assert f"the Prefect API at {NO_API['PREFECT_API_URL']} does not answer" in done.stderr
    assert "PREFECT_API_URL" in done.stderr
    assert "--direct" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
