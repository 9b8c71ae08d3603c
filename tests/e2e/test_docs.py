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
    "splitting.md", "versions.md", "vector-index.md", "operations.md", "frameworks.md",
    "service.md", "tutorial.md", "howto/schedule.md", "howto/postgresql.md",
    "howto/audit.md", "howto/tune.md", "howto/choose-files.md",
)  # fmt: skip
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
def test_the_page_on_postgresql_runs(walker: Cli, postgres_url: str) -> None:
    said = walk(walker, "howto/postgresql.md", postgres_url)
    [audited] = [text for line, text in said.items() if "audit --sources samples" in line]
    assert "0 errors, 0 warnings" in audited[0]
    assert (walker.folder / "old.jsonl").read_text().count("\n") > 1


def test_the_tutorial_runs_from_a_folder_to_a_proof(walker: Cli) -> None:
    said = walk(walker, "tutorial.md")
    whole, old = said["chunkprep pack --budget 400 --candidates candidates.jsonl"]
    assert ("20 cents a day" in whole, "20 cents a day" in old) == (True, False)
    assert "superseded" in old
    [cut] = said["chunkprep pack --budget 100 --candidates candidates.jsonl"]
    assert "truncated" in cut
    before, after = said['python ask.py "What does a late book cost?"']
    assert ("20 cents a day" in before, "30 cents a day" in before) == (True, False)
    assert ("20 cents a day" in after, "30 cents a day" in after) == (False, True)
    [hours] = said['python ask.py "What are the opening hours on Saturday?"']
    assert hours.index("Saturday from 10 to 14") < hours.index("***")
    assert (
        "0 errors, 0 warnings, 1 note"
        in said["chunkprep audit --sources handbook --recount all"][0]
    )
    assert "7 of 7 packs rebuilt byte for byte" in said["chunkprep replay --verify"][0]


def test_the_page_on_stale_documents_runs(walker: Cli) -> None:
    said = walk(walker, "howto/audit.md")
    found = " ".join(text for line, [text] in said.items() if "audit" in line)
    assert all(check in found for check in ("source_changed", "source_missing", "review_due"))
    assert "1 of 1 packs change" in said["chunkprep replay --as-now"][0]


def test_the_page_on_cap_and_budget_runs(walker: Cli) -> None:
    said = walk(walker, "howto/tune.md")
    assert "always_exhausted" in said["chunkprep report"][0]
    shares = {
        line: re.findall(r"share of 5 labelled spans +(\S+) +(\S+)", text)
        for line, [text] in said.items()
        if line.startswith("chunkprep replay")
    }
    narrow = "chunkprep replay --budget 300 --labels answers.jsonl"
    assert shares.pop(narrow) == [("1", "0.8")]
    assert list(shares.values()) == [[("1", "1")]] * 3
    assert "12 updated, 1 skipped" in said["chunkprep resplit --cap 250"][0]


def test_the_page_on_files_and_settings_runs(walker: Cli) -> None:
    said = walk(walker, "howto/choose-files.md")
    [[planned]] = said.values()
    assert "3 documents: 3 new; would write" in planned
    [settings] = re.findall(r"```toml\n(.*?)```", read("howto/choose-files.md"), re.DOTALL)
    (walker.folder / "chunkprep.toml").write_text(settings, encoding="utf-8")
    assert walker.json("ingest", "samples", "--direct")["boilerplate_words"] > 0


def test_the_page_on_schedules_runs(walker: Cli) -> None:
    said = walk(walker, "howto/schedule.md")
    [audited] = said["chunkprep audit --sources samples --fail-on warning"]
    assert "0 errors, 0 warnings" in audited


@pytest.mark.prefect
def test_the_schedule_of_the_page_is_served(ingested: Cli, prefect_api: str) -> None:
    [line] = re.findall(r"^chunkprep schedule .*$", read("howto/schedule.md"), re.MULTILINE)
    command = [sys.executable, "-m", "chunkprep_flows.cli", *shlex.split(line)[1:]]
    env = {**os.environ, "PREFECT_API_URL": prefect_api}
    with subprocess.Popen(
        command, cwd=ingested.folder, env=env, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stderr is not None
        told = serving.stderr.readline()
        serving.terminate()
        serving.communicate(timeout=90)
    assert told.startswith("serving ingest-documents/ingest and audit-versions/ingest at http")


def test_the_page_on_operations_runs(walker: Cli) -> None:
    said = walk(walker, "operations.md")
    assert "0 errors, 0 warnings" in said["chunkprep audit --sources samples"][0]
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
        page.relative_to(DOCS).as_posix()
        for page in DOCS.rglob("*.md")
        if any(isinstance(step, Command) for step in steps(page.read_text(encoding="utf-8")))
    }
    assert with_commands <= set(WALKED)


def test_no_machine_path_stands_in_the_docs_or_the_examples() -> None:
    for page in (*DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.py")):
        assert not re.search(r"/(home|root|work|tmp)/", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize(
    "page", [*DOCS.rglob("*.md"), ROOT / "README.md"], ids=lambda page: page.name
)
def test_every_link_to_a_file_or_a_heading_leads_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith("#"):
            name, _, heading = link.partition("#")
            target = (page.parent / name).resolve()
            assert target.exists(), link
            assert not heading or heading in headings(target), link


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in found}
