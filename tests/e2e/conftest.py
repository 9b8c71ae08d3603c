"""The command line on real stores, and one Prefect server for the whole session."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser
from tests.support.chromium import open_chromium
from tests.support.inspected import fill
from tests.support.served_pages import served_pages

from chunkprep_flows.cli import main

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
PREFECT_START_SECONDS = 180


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No CHUNKPREP_ variable and no chunkprep.toml of the developer's reaches a test."""
    for name in list(os.environ):
        if name.startswith("CHUNKPREP_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@dataclass(frozen=True)
class Cli:
    """Runs `chunkprep` in this process, in the test's folder."""

    folder: Path

    def __call__(self, *args: object, code: int = 0, input: str | None = None) -> Result:
        """Run it and hold it to its exit code."""
        runner = CliRunner(catch_exceptions=False)
        result = runner.invoke(main, [str(a) for a in args], input=input, prog_name="chunkprep")
        assert result.exit_code == code, f"exit {result.exit_code}\n{result.output}"
        return result

    def json(self, *args: object, code: int = 0, input: str | None = None) -> Any:
        """The JSON object on stdout."""
        return json.loads(self(*args, "--json", code=code, input=input).stdout)

    def lines(self, *args: object, code: int = 0, input: str | None = None) -> list[Any]:
        """The JSON lines on stdout."""
        result = self(*args, "--json", code=code, input=input)
        return [json.loads(line) for line in result.stdout.splitlines()]

    @property
    def url(self) -> str:
        """The store's."""
        return f"sqlite:///{(self.folder / 'chunkprep.db').as_posix()}"

    def ingest(self, *args: object, code: int = 0) -> Any:
        """An ingest without Prefect, as JSON."""
        return self.json("ingest", *args, "--direct", code=code)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture(scope="session")
def _sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, ingested once."""
    folder = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES, folder / "samples")
    store = f"sqlite:///{folder / 'chunkprep.db'}"
    args = ["ingest", str(folder / "samples"), "--direct", "--store", store]
    result = CliRunner(catch_exceptions=False).invoke(main, args)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def ingested(_sample_store: Path, cli: Cli) -> Cli:
    """A command line in a folder with the samples and their store."""
    shutil.copytree(_sample_store, cli.folder, dirs_exist_ok=True)
    return cli


@pytest.fixture(scope="session")
def prefect_api() -> Iterator[str]:
    """The address of a Prefect server that lives for the session."""
    from chunkprep_flows.prefect_session import prepare_environment

    prepare_environment(verbose=False)
    from prefect.settings import PREFECT_API_URL
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=PREFECT_START_SECONDS):
        yield str(PREFECT_API_URL.value())


@pytest.fixture
def client(prefect_api: str) -> Iterator[Any]:
    """A client of the session's Prefect server."""
    from prefect import get_client

    with get_client(sync_client=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def _inspected_store(_sample_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples with all that the pages can show, made once."""
    folder = tmp_path_factory.mktemp("inspected")
    shutil.copytree(_sample_store, folder, dirs_exist_ok=True)
    with contextlib.chdir(folder):
        cli = Cli(folder)
        fill(folder, cli.ingest, cli)
    return folder


@pytest.fixture
def inspected(_inspected_store: Path, cli: Cli) -> Cli:
    """A command line in a folder with a store that shows all that the pages can."""
    shutil.copytree(_inspected_store, cli.folder, dirs_exist_ok=True)
    return cli


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium: by module, since its driver keeps an event loop in this thread."""
    with open_chromium() as opened:
        yield opened


@pytest.fixture
def site(inspected: Cli) -> Iterator[str]:
    """The pages, served by the real service."""
    with served_pages(inspected.url) as address:
        yield f"{address}/pages"


Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """Runs `chunkprep` as a process of its own; `env` adds to the environment."""

    def run(
        *args: object, env: dict[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "chunkprep_flows.cli", *map(str, args)],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            input=input,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
