"""The pages of docs/ are kept true: every command on them runs, in order, and exits as it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tests.e2e.conftest import ROOT, SAMPLES, Cli
from tests.support.walkthrough import Command, File, steps

from chunkprep_flows.auditing import ALL_CHECKS
from chunkprep_flows.commands.resplit import resplit
from chunkprep_flows.split_settings import SplitSettings
from chunkprep_ingest.metadata import METADATA_FIELDS

DOCS = ROOT / "docs"
WALKED = (
    "splitting.md",
    "versions.md",
    "vector-index.md",
    "operations.md",
    "frameworks.md",
    "service.md",
)
"""Pages that hold commands; a page that gets some is added here, or the last test fails."""

WRITTEN_POSTGRES = "postgresql://keeper@db/chunkprep"


@pytest.fixture
def walker(cli: Cli) -> Cli:
    """A folder with the samples and the examples, like a clone's."""
    shutil.copytree(SAMPLES, cli.folder / "samples")
    shutil.copytree(ROOT / "examples", cli.folder / "examples")
    return cli


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def walk(cli: Cli, page: str, postgres: str = "") -> dict[str, list[str]]:
    """Run a page; what each command printed on stdout and stderr each time, by its line.

    The page's PostgreSQL is the one at the URL `postgres`.
    """
    said: dict[str, list[str]] = defaultdict(list)
    for step in steps(read(page).replace(WRITTEN_POSTGRES, postgres or WRITTEN_POSTGRES)):
        if isinstance(step, File):
            (cli.folder / step.path).write_text(step.text, encoding="utf-8")
        else:
            said[step.line].append(run(cli, step))
    return said


def run(cli: Cli, command: Command) -> str:
    """`chunkprep` runs in this process, anything else in a shell whose `python` is this one."""
    line, _, target = command.line.partition(" > ")
    if line.startswith("chunkprep "):
        result = cli(*shlex.split(line)[1:], code=command.code)
        if target:
            (cli.folder / target).write_text(result.stdout)
        return result.stdout + result.stderr
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command.line, shell=True, cwd=cli.folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == command.code, f"{command.line}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_the_page_on_versions_runs(walker: Cli) -> None:
    said = walk(walker, "versions.md")
    assert '"not_yet_valid"' in said["chunkprep audit --json"][0]
    [before] = said["chunkprep docs --as-of 2998-12-31"]
    [after] = said["chunkprep docs --as-of 2999-01-01"]
    assert ("refund-2026.md" in before, "refund-2999.md" in before) == (True, False)
    assert ("refund-2026.md" in after, "refund-2999.md" in after) == (False, True)
    assert "refund-2019.md" in said["chunkprep docs --as-of 2025-06-30"][0]
    draft, released = said['chunkprep search "animals in a bag" --json']
    assert ("pets.md" in draft, "pets.md" in released) == (False, True)
    assert "withdrawn" in said["chunkprep ingest samples --direct --sync --dry-run"][0]
    assert "revived" in said["chunkprep ingest samples --direct --sync"][-1]
    assert "erased" in said["chunkprep ingest samples --direct"][-1]
    assert "0 errors, 0 warnings" in said["chunkprep audit"][0]


def test_the_page_on_splitting_runs_and_names_every_setting(walker: Cli) -> None:
    said = walk(walker, "splitting.md")
    assert "(2026-01-01)" in said["chunkprep chunks policies/refund-2026.md --json"][0]
    assert "between 75" in said["chunkprep resplit --cap 300 --target 20"][0]
    options = {option for parameter in resplit.params for option in parameter.opts}
    options |= {option for parameter in resplit.params for option in parameter.secondary_opts}
    named = set(re.findall(r"^\| `(--[a-z-]+)", read("splitting.md"), re.MULTILINE))
    assert named <= options
    assert len(named) == len(SplitSettings.model_fields)


def test_the_page_on_vector_indexes_runs(walker: Cli) -> None:
    said = walk(walker, "vector-index.md")
    shown = re.findall(r"^Done\(.*\)$", read("vector-index.md"), re.MULTILINE)
    assert said["python examples/vector_index.py sync"][1].strip() in shown
    assert "0 errors, 0 warnings" in said["chunkprep audit --index-ids ids.txt"][0]
    [late] = said["chunkprep audit --index-ids ids.txt --fail-on warning"]
    assert "index_missing" in late


@pytest.mark.postgres
def test_the_page_on_operations_runs(walker: Cli, postgres_url: str) -> None:
    said = walk(walker, "operations.md", postgres_url)
    assert "0 errors, 0 warnings" in said["chunkprep audit --sources samples"][0]
    assert (walker.folder / "old.jsonl").read_text().count("\n") > 1
    [kept] = said["chunkprep audit --sources samples --recount all --store sqlite:///backup.db"]
    assert "0 errors, 0 warnings" in kept
    assert "13 unchanged" in said["chunkprep ingest samples --direct --dry-run"][0]


def test_the_page_on_versions_names_every_check_and_every_field() -> None:
    named = set(re.findall(r"`(\w+)`", read("versions.md")))
    assert named >= set(ALL_CHECKS)
    assert named >= METADATA_FIELDS
    rows = re.findall(r"^\| `(\w+)` \| (error|warning|info) \|", read("versions.md"), re.MULTILINE)
    assert [name for name, _ in rows] == list(ALL_CHECKS)


def test_every_page_with_commands_is_walked() -> None:
    with_commands = {
        page.name
        for page in DOCS.glob("*.md")
        if any(isinstance(step, Command) for step in steps(page.read_text(encoding="utf-8")))
    }
    assert with_commands <= set(WALKED)


def test_no_machine_path_stands_in_the_docs_or_the_examples() -> None:
    for page in (*DOCS.glob("*.md"), *(ROOT / "examples").glob("*.py")):
        assert not re.search(r"/(home|root|work|tmp)/", page.read_text(encoding="utf-8")), page
