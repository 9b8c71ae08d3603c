"""What holds for every command: help, environment twins, the file, exit codes, one-line errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from tests.e2e.conftest import Cli, Process

from chunkprep_flows.cli import main
from chunkprep_flows.options import Option, twin_name


def every_command(group: click.Group = main, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        here = f"{path} {name}".strip()
        yield here, command
        if isinstance(command, click.Group):
            yield from every_command(command, here)


COMMANDS = dict(every_command())


@pytest.mark.parametrize("path", COMMANDS)
def test_help_has_a_summary_and_an_example(cli: Cli, path: str) -> None:
    text = cli(*path.split(), "--help").stdout
    assert "Example:" in text
    assert f"chunkprep {path}" in text.split("Example:")[1]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_an_environment_twin(path: str) -> None:
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Option):
            assert isinstance(parameter, Option), parameter.name
            assert parameter.envvar == "CHUNKPREP_" + twin_name(parameter.opts).upper()


def test_option_before_environment_before_file_before_default(
    ingested: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collection_asked(*args: str) -> str:
        return ingested("docs", *args, code=2).stderr

    (ingested.folder / "chunkprep.toml").write_text('collection = "file"\n')
    assert "'file'" in collection_asked()
    monkeypatch.setenv("CHUNKPREP_COLLECTION", "environment")
    assert "'environment'" in collection_asked()
    assert "'option'" in collection_asked("--collection", "option")


def test_a_table_of_the_file_is_for_its_command_only(ingested: Cli) -> None:
    (ingested.folder / "chunkprep.toml").write_text('[docs]\ncollection = "elsewhere"\n')
    ingested("docs", code=2)
    ingested("versions", "policies/refund-2026.md")


def test_the_file_may_write_a_name_with_dashes_and_lists(cli: Cli) -> None:
    (cli.folder / "docs").mkdir()
    for name in ("a", "b"):
        (cli.folder / "docs" / f"{name}.md").write_text("# Title\n\nText.\n")
    (cli.folder / "own.toml").write_text(
        '[ingest]\nexclude = ["b.md"]\ninclude = "*.md"\ndry-run = true\n', encoding="utf-8-sig"
    )
    report = cli.json("--config", "own.toml", "ingest", "docs", "--direct")
    assert [d["document"] for d in report["documents"]] == ["a.md"]
    assert report["dry_run"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("colection = 'x'\n", "colection"),
        ("[ingst]\ncap = 1\n", "ingst"),
        ("[ingest]\nbudget = 1\n", "ingest.budget"),
        ("cap =\n", "line 1"),
        ("[ingest]\nsync = 1\n", "sync must be true or false, not 1"),
        ("[ingest]\ncap = [1]\n", "cap must be one value"),
        ("[ingest]\nexclude = 1\n", "exclude must be a list"),
    ],
)
def test_a_file_with_a_slip_is_wrong_usage_and_names_it(cli: Cli, content: str, named: str) -> None:
    (cli.folder / "chunkprep.toml").write_text(content)
    assert named in cli("docs", code=2).stderr


def test_a_number_of_the_file_is_not_rounded(cli: Cli) -> None:
    (cli.folder / "docs").mkdir()
    (cli.folder / "chunkprep.toml").write_text("cap = 256.5\n")
    said = cli("ingest", "docs", "--direct", code=2).stderr
    assert "'256.5' is not a valid integer (from chunkprep.toml)" in said


def test_a_wrong_value_says_where_it_was_written(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (cli.folder / "chunkprep.toml").write_text('[ingest]\ncap = "many"\n')
    assert "(from chunkprep.toml)" in cli("ingest", ".", "--direct", code=2).stderr
    monkeypatch.setenv("CHUNKPREP_CAP", "several")
    told = cli("ingest", ".", "--direct", code=2).stderr
    assert "'several' is not a valid integer (from the environment: CHUNKPREP_CAP)" in told


def test_the_file_may_write_a_date_as_toml_does(ingested: Cli) -> None:
    (ingested.folder / "chunkprep.toml").write_text("[docs]\nas-of = 2025-06-30\n")
    dated = ingested.lines("docs")
    assert dated == ingested.lines("docs", "--as-of", "2025-06-30")


def test_a_config_file_that_is_missing_is_wrong_usage(cli: Cli) -> None:
    assert "nowhere.toml" in cli("--config", "nowhere.toml", "docs", code=2).stderr


@pytest.mark.parametrize(
    "args",
    [
        ["ingest", ".", "--no-such-option"],
        ["nosuch"],
        ["ingest"],
        ["pack", "--budget", "many", "--candidates", "-"],
        ["docs", "--store", "mysql://localhost/x"],
        ["docs", "--store", "nonsense"],
        ["docs"],
        ["ingest", ".", "--direct", "--cap", "3"],
        ["ingest", ".", "--direct", "--encoding", "nope"],
        ["ingest", ".", "--direct", "--template", "nope"],
        ["ingest", ".", "--direct", "--runner", "dask"],
        ["schedule", "."],
        ["docs", "--collection", ""],
        ["keys", "add", "two\nlines"],
        ["ingest", ".", "--direct", "--read-seconds", "nan"],
        ["search", "\udcff"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(cli: Cli, args: list[str]) -> None:
    result = cli(*args, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("chunkprep: ")
    assert result.stderr.count("\n") == 1


def test_a_pointer_to_help_stands_once(cli: Cli) -> None:
    (cli.folder / "chunkprep.toml").write_text("nonsense = 1\n")
    assert cli("docs", code=2).stderr.count("--help") == 1


def test_verbose_adds_the_traceback(cli: Cli) -> None:
    assert "Traceback" not in cli("docs", code=2).stderr
    assert "Traceback" in cli("-v", "docs", code=2).stderr


def test_no_command_loads_prefect_unstructured_or_tiktoken_for_its_help() -> None:
    heavy = "{'prefect', 'unstructured', 'tiktoken', 'sqlalchemy', 'pyromark', 'yaml'}"
    script = f"import sys, chunkprep_flows.cli; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_a_reader_that_goes_away_is_no_traceback(ingested: Cli, process: Process) -> None:
    command = f"{sys.executable} -m chunkprep_flows.cli changes --json | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ingested.folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert process("--version").stdout.startswith("chunkprep, version ")
