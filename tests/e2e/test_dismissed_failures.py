"""Failures of what never became a document can be taken off the list; those of others cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

from chunkprep_store import Store


@pytest.fixture
def failing(cli: Cli) -> Path:
    """A folder with a document that turned bad, and two files that never were documents."""
    folder = cli.folder / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n")
    cli.ingest("docs")
    for name in ("good.md", "empty.md", "void.md"):
        (folder / name).write_text("")
    cli.ingest("docs", code=1)
    return folder


def listed(cli: Cli, *args: object, code: int = 1) -> set[str]:
    return {line["document"] for line in cli.lines("failures", *args, code=code)}


def test_a_dismissed_failure_is_off_the_list_until_it_fails_again(cli: Cli, failing: Path) -> None:
    assert listed(cli, "--dismiss", "empty.md", "--dismiss", "void.md") == {"good.md"}
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        run = store.runs("default")[0]
    assert run.kind == "dismiss"
    assert run.summary is not None
    uri = (failing / "empty.md").as_uri()
    assert run.summary["dismissed"][0] == {"document": "empty.md", "uri": uri, "code": "empty"}
    cli.ingest("docs", code=1)
    assert listed(cli) == {"empty.md", "good.md", "void.md"}


def test_the_failure_of_what_stands_is_not_dismissed(cli: Cli, failing: Path) -> None:
    said = cli("failures", "--dismiss", "empty.md", "--dismiss", "good.md", code=2).stderr
    assert "good.md" in said
    assert "withdraw" in said
    assert listed(cli) == {"empty.md", "good.md", "void.md"}
    cli("withdraw", "good.md", "--reason", "no longer kept")
    assert listed(cli, "--dismiss", "good.md") == {"empty.md", "void.md"}


def test_what_did_not_fail_is_not_dismissed(cli: Cli, failing: Path) -> None:
    assert "no failure of 'x.md'" in cli("failures", "--dismiss", "x.md", code=2).stderr
    assert "one of them" in cli("failures", "--retry", "--dismiss", "void.md", code=2).stderr


def test_the_last_failure_dismissed_is_success(cli: Cli) -> None:
    (cli.folder / "page").write_text("no suffix")
    cli.ingest("page", code=1)
    said = cli("failures", "--dismiss", "page", code=0).stderr
    assert "dismissed: page: unsupported_type" in said
    assert "no failures" in said
