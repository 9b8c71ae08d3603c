"""A sync withdraws what is gone, not what a pattern or an ignore file leaves out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

NAMES = ("a.md", "b.txt", "old/c.md", os.fsdecode(b"caf\xe9.md"))


@pytest.fixture
def docs(cli: Cli) -> Path:
    """A folder of ingested documents."""
    folder = cli.folder / "docs"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name!a}\n")
    cli.ingest("docs")
    return folder


def withdrawn(cli: Cli) -> set[str]:
    return {d["document"] for d in cli.lines("docs") if d["status"] == "withdrawn"}


@pytest.mark.parametrize(
    "filters", [("--include", "*.txt"), ("--include", "*.rst"), ("--exclude", "*.md")]
)
def test_what_a_pattern_leaves_out_stays(cli: Cli, docs: Path, filters: tuple[str, ...]) -> None:
    assert cli.ingest("docs", "--sync", *filters)["withdrawn"] == 0
    assert withdrawn(cli) == set()


def test_what_an_ignore_file_leaves_out_stays_until_it_is_gone(cli: Cli, docs: Path) -> None:
    (docs / ".chunkprepignore").write_text("old/\n*.txt\n")
    assert cli.ingest("docs", "--sync")["withdrawn"] == 0
    assert cli.lines("audit", "--sources", "docs") == []
    (docs / "old/c.md").unlink()
    (docs / "b.txt").unlink()
    (docs / "b.txt").mkdir()
    assert {f["document"] for f in cli.lines("audit", "--sources", "docs")} == {"b.txt", "old/c.md"}
    assert cli.ingest("docs", "--sync")["withdrawn"] == 2
    assert withdrawn(cli) == {"b.txt", "old/c.md"}


def test_a_file_that_has_another_key_now_is_not_left_out(cli: Cli, docs: Path) -> None:
    (docs / ".chunkprepignore").write_text("*.md\n")
    cli.ingest(docs / "b.txt", "--collection", "other")
    report = cli.ingest(".", "--collection", "other", "--include", "*.txt", "--sync")
    assert (report["new"], report["withdrawn"]) == (1, 1)


def test_a_link_to_a_file_that_is_listed_now_is_not_left_out(cli: Cli, docs: Path) -> None:
    (docs / "b.txt").unlink()
    (docs / "b.txt").symlink_to("a.md")
    assert cli.ingest("docs", "--sync")["withdrawn"] == 1
    assert withdrawn(cli) == {"b.txt"}


def test_a_document_stays_while_its_file_fails_below_another_folder(cli: Cli, docs: Path) -> None:
    """The same file at the same URI, with another key: the folder above was named."""
    cli.ingest(docs / "b.txt", "--collection", "other")
    (docs / "b.txt").write_bytes(b"\x00\x01\x02\x03" * 20)
    again = (".", "--collection", "other", "--include", "*.txt", "--sync")
    assert cli.ingest(*again, code=1)["withdrawn"] == 0
    (docs / "b.txt").write_text("mended\n")
    assert cli.ingest(*again)["withdrawn"] == 1
