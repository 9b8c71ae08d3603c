"""The README's commands and its Python run as they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.e2e.conftest import ROOT, SAMPLES, Cli

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ chunkprep")]


@pytest.fixture
def toured(cli: Cli) -> Cli:
    """A folder with the samples in it."""
    shutil.copytree(SAMPLES, cli.folder / "samples")
    return cli


def test_the_commands_of_the_tour_run_in_their_order(toured: Cli) -> None:
    assert len(commands()) > 10
    said = []
    for command in commands():
        line, _, target = command.partition(" > ")
        result = toured(*shlex.split(line)[1:])
        said.append(result.output)
        if target:
            (toured.folder / target).write_text(result.stdout)
    plain, lagging, edges = [
        text for text in said if '"outcome"' in text or "outcome  reason" in text
    ]
    assert "superseded" not in plain
    assert "superseded" in lagging
    assert '"reason":"superseded"' in edges


def test_the_ten_lines_of_python_pack_something(ingested: Cli) -> None:
    [python] = blocks("python")
    assert len(python.splitlines()) <= 11
    done = subprocess.run(
        [sys.executable, "-c", python], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "within 14 days of booking" in done.stdout


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\$ make (\w+)", README, re.MULTILINE)
    assert targets[:2] == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_every_extra_that_users_may_want_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"]) - {"dev", "ingest"}
    assert extras <= set(re.findall(r"`(\w+)`", README))
    assert ".[ingest]" in README


def test_no_machine_path_stands_in_the_readme_or_the_samples() -> None:
    texts = [README, *(p.read_text() for p in Path(SAMPLES).rglob("*.md"))]
    assert not [t for t in texts if re.search(r"/(home|root|work|tmp)/", t)]
