"""Symbolic links in a folder of documents: followed, and known as what they are once gone."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

from chunkprep_store import Store


@pytest.fixture
def docs(cli: Cli) -> Path:
    """An ingested folder with a file of its own, a link to a folder and one to a file elsewhere."""
    for name in ("docs/d.md", "real/r.md", "real/deep/s.md", "out.md"):
        (cli.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (cli.folder / name).write_text(f"# {name}\n")
    (cli.folder / "docs/shared").symlink_to("../real")
    (cli.folder / "docs/one.md").symlink_to("../out.md")
    cli.ingest("docs")
    return cli.folder / "docs"


def withdrawn(cli: Cli) -> set[str]:
    return {d["document"] for d in cli.lines("docs") if d["status"] == "withdrawn"}


def missing(cli: Cli, source: str, code: int) -> set[str]:
    found = cli.lines("audit", "--sources", source, "--fail-on", "warning", code=code)
    assert {f["check"] for f in found} <= {"source_missing"}
    return {f["document"] for f in found}


def test_what_a_link_led_to_is_gone_with_the_link(cli: Cli, docs: Path) -> None:
    assert missing(cli, "docs", 0) == set()
    (docs / "shared").unlink()
    (docs / "one.md").unlink()
    assert missing(cli, "docs", 1) == {"one.md", "shared/r.md", "shared/deep/s.md"}
    assert cli.ingest("docs", "--sync")["withdrawn"] == 3
    assert withdrawn(cli) == {"one.md", "shared/r.md", "shared/deep/s.md"}


def test_a_file_that_is_gone_behind_a_link_is_gone(cli: Cli, docs: Path) -> None:
    (cli.folder / "real/r.md").unlink()
    assert cli.ingest("docs", "--sync")["withdrawn"] == 1
    assert withdrawn(cli) == {"shared/r.md"}


def test_the_folder_behind_a_link_does_not_speak_for_its_documents(cli: Cli, docs: Path) -> None:
    """`real` is another source, in which each file has another key."""
    assert missing(cli, "real", 0) == set()
    report = cli.ingest("real", "--sync")
    assert (report["new"], report["withdrawn"], report["warnings"]) == (2, 0, [])


def test_of_two_links_to_a_folder_the_other_takes_over(cli: Cli, docs: Path) -> None:
    (docs / "twin").symlink_to("../real")
    assert cli.ingest("docs", "--sync")["unchanged"] == 4
    (docs / "shared").unlink()
    report = cli.ingest("docs", "--sync")
    assert (report["new"], report["withdrawn"]) == (2, 2)
    (docs / "first").symlink_to("../real")
    report = cli.ingest("docs", "--sync")
    assert (report["new"], report["withdrawn"]) == (2, 2)


def test_of_two_links_to_a_file_the_other_takes_over(cli: Cli, docs: Path) -> None:
    (docs / "two.md").symlink_to("../out.md")
    assert cli.ingest("docs", "--sync")["unchanged"] == 4
    (docs / "one.md").unlink()
    report = cli.ingest("docs", "--sync")
    assert (report["new"], report["withdrawn"]) == (1, 1)


def test_a_source_that_is_a_link_is_the_folder_it_leads_to(cli: Cli, docs: Path) -> None:
    (cli.folder / "link").symlink_to("docs")
    report = cli.ingest("link", "--sync")
    assert (report["unchanged"], report["warnings"]) == (4, [])
    (docs / "d.md").unlink()
    (docs / "shared").unlink()
    assert missing(cli, "link", 1) == {"d.md", "shared/r.md", "shared/deep/s.md"}
    assert cli.ingest("link", "--sync")["withdrawn"] == 3


def test_a_failure_below_a_source_that_is_a_link_is_forgotten_with_its_file(
    cli: Cli, docs: Path
) -> None:
    (cli.folder / "link").symlink_to("docs")
    (docs / "loop.md").symlink_to("loop.md")
    (docs / "bad.pdf").write_text("no PDF")
    cli.ingest("link", code=1)
    assert {f["document"] for f in cli.lines("failures", code=1)} == {"bad.pdf", "loop.md"}
    (docs / "loop.md").unlink()
    (docs / "bad.pdf").unlink()
    cli.ingest("link")
    assert cli.lines("failures") == []


def test_what_an_earlier_release_stored_by_its_target_moves_silently(cli: Cli, docs: Path) -> None:
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        known = store.known("default", ["shared/r.md"])["shared/r.md"]
        assert known.uri == (docs / "shared/r.md").as_uri()
    real = (cli.folder / "real/r.md").as_uri()
    with closing(sqlite3.connect(cli.folder / "chunkprep.db")) as database, database:
        database.execute("UPDATE versions SET uri = ? WHERE uri = ?", (real, known.uri))
    report = cli.ingest("docs", "--sync")
    outcomes = {d["document"]: d["outcome"] for d in report["documents"]}
    assert outcomes["shared/r.md"] == "metadata_only"
    assert report["warnings"] == []
    (docs / "shared").unlink()
    assert cli.ingest("docs", "--sync")["withdrawn"] == 2


def test_pipes_are_left_out_and_counted(cli: Cli, docs: Path) -> None:
    os.mkfifo(docs / "pipe.md")
    os.mkfifo(docs / "other.md")
    (docs / "device.md").symlink_to("/dev/null")
    report = cli.ingest("docs")
    assert (report["seen"], report["failed"]) == (4, 0)
    [told] = report["warnings"]
    assert told.endswith(": docs/other.md and 2 more")


def test_a_document_stays_while_its_file_fails_under_another_key(cli: Cli, docs: Path) -> None:
    (docs / "first").symlink_to("../real")
    (cli.folder / "real/r.md").write_bytes(b"\xff\xfe\x00")
    [told] = [f for f in cli.lines("audit", "--sources", "docs") if f["document"] == "shared/r.md"]
    assert (told["check"], told["message"]) == ("source_missing", "listed as first/r.md now")
    report = cli.ingest("docs", "--sync", code=1)
    assert (report["failed"], report["withdrawn"]) == (1, 1)
    assert withdrawn(cli) == {"shared/deep/s.md"}
    [kept] = [told for told in report["warnings"] if told.startswith("sync: what cannot be read")]
    assert "docs/first/r.md: byte 0x00" in kept
    (cli.folder / "real/r.md").write_text("# Mended\n")
    assert cli.ingest("docs", "--sync")["withdrawn"] == 1
    assert withdrawn(cli) == {"shared/deep/s.md", "shared/r.md"}
