"""A sync withdraws what is gone beside a file that cannot be read, and not what that may hide."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

NAMES = ("a.md", "b.md", "c.md", "sub/d.md", "sub/e.md")


@pytest.fixture
def docs(cli: Cli) -> Path:
    """A folder of ingested documents."""
    folder = cli.folder / "docs"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    cli.ingest("docs")
    return folder


def withdrawn(cli: Cli) -> set[str]:
    return {d["document"] for d in cli.lines("docs") if d["status"] == "withdrawn"}


def test_a_link_that_never_was_a_document_keeps_nothing(cli: Cli, docs: Path) -> None:
    (docs / "a.md").unlink()
    (docs / "dang.md").symlink_to("nowhere")
    report = cli.ingest("docs", "--sync", code=1)
    assert (report["withdrawn"], report["failed"], report["warnings"]) == (1, 1, [])
    assert withdrawn(cli) == {"a.md"}


def test_a_document_that_became_a_link_to_nothing_stays_and_is_named(cli: Cli, docs: Path) -> None:
    (docs / "a.md").unlink()
    (docs / "b.md").unlink()
    (docs / "b.md").symlink_to("nowhere")
    report = cli.ingest("docs", "--sync", code=1)
    assert report["warnings"] == [
        "sync: what cannot be read is not gone: docs/b.md: No such file or directory; "
        "1 document there stays in force"
    ]
    assert withdrawn(cli) == {"a.md"}
    (docs / "b.md").unlink()
    assert cli.ingest("docs", "--sync")["withdrawn"] == 1
    assert cli.lines("failures") == []


@pytest.mark.parametrize("filters", [(), ("--include", "*.md")])
def test_what_was_below_a_link_to_nothing_stays(
    cli: Cli, docs: Path, filters: tuple[str, ...]
) -> None:
    """A share that is not mounted, say; where a pattern leaves the link out, nothing is told."""
    shutil.rmtree(docs / "sub")
    (docs / "sub").symlink_to("away")
    (docs / "a.md").unlink()
    report = cli.ingest("docs", "--sync", *filters, code=0 if filters else 1)
    assert withdrawn(cli) == {"a.md"}
    assert any("docs/sub: No such" in told for told in report["warnings"]) == (not filters)
    (docs / "sub").unlink()
    assert cli.ingest("docs", "--sync", *filters)["withdrawn"] == 2


def test_a_folder_that_holds_only_a_link_to_nothing_is_as_an_empty_one(
    cli: Cli, docs: Path
) -> None:
    shutil.rmtree(docs)
    docs.mkdir()
    (docs / "a.md").symlink_to("nowhere")
    report = cli.ingest("docs", "--sync", code=1)
    assert any("no document was found" in told for told in report["warnings"])
    assert withdrawn(cli) == set()


def test_a_source_that_turned_up_empty_beside_another_needs_a_word(cli: Cli, docs: Path) -> None:
    """The mount point of a share that is not mounted, say."""
    (cli.folder / "more").mkdir()
    (cli.folder / "more/z.md").write_text("# More\n")
    assert cli.ingest("docs", "more", "--sync")["withdrawn"] == 0
    shutil.rmtree(docs)
    docs.mkdir()
    report = cli.ingest("docs", "more", "--sync", code=1)
    assert (report["withdrawn"], report["spared"]) == (0, 5)
    [told] = report["warnings"]
    assert f"no document was found in {docs.as_uri()}/" in told
    assert cli.ingest("docs", "more", "--sync", "--allow-mass-withdraw")["withdrawn"] == 5
    assert cli.ingest("docs", "more", "--sync")["warnings"] == []


def test_a_source_of_which_a_pattern_leaves_out_all_is_not_empty(cli: Cli, docs: Path) -> None:
    (docs / "a.md").unlink()
    (cli.folder / "more").mkdir()
    (cli.folder / "more/z.txt").write_text("more\n")
    report = cli.ingest("docs", "more", "--sync", "--include", "*.txt")
    assert (report["withdrawn"], report["warnings"]) == (1, [])
