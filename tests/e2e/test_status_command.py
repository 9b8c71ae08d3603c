"""`chunkprep status`: what it says of a collection that is well, and of one that is not."""

from __future__ import annotations

import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Cli

from chunkprep_flows.opened import now
from chunkprep_store import Store


@pytest.fixture
def docs(cli: Cli) -> Path:
    """A folder of two documents, ingested."""
    folder = cli.folder / "docs"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"# {name}\n")
    cli.ingest("docs")
    return folder


def status(cli: Cli, *options: str) -> dict[str, Any]:
    """What is said of the one collection."""
    [record] = cli.lines("status", *options)
    assert isinstance(record, dict)
    return record


def source(cli: Cli) -> dict[str, Any]:
    """What is said of its one source."""
    [found] = status(cli)["sources"]
    assert isinstance(found, dict)
    return found


def test_all_is_well(cli: Cli, docs: Path) -> None:
    record = status(cli, "--max-age", "26h")
    assert (record["collection"], record["documents"], record["failing"]) == ("default", 2, 0)
    assert (record["last"]["ended"], record["remedy"]) == ("done", None)
    assert record["whole"] == record["last"]
    found = source(cli)
    assert (found["source"], found["documents"], found["remedy"]) == (docs.as_uri(), 2, None)
    assert found["whole_at"] == found["clean_at"] == found["last_at"]
    said = cli("status", "--max-age", "1.5d")
    assert said.stderr == ""
    assert str(docs) in said.stdout


def test_what_is_too_old_is_named_in_one_line(cli: Cli, docs: Path) -> None:
    cli.ingest("docs", "--collection", "other")
    said = cli("status", "--max-age", "0s", "--collection", "default", code=1)
    [line] = said.stderr.splitlines()
    assert line.startswith(f"too old: default: {docs} last ingested whole 0.0 hours ago")
    assert "ingest each again" in line
    [line] = cli("status", "--max-age", "0s", code=1).stderr.splitlines()
    assert "default:" in line
    assert "other:" in line
    assert len(cli.lines("status", "--max-age", "26h")) == 2


def test_a_run_that_found_nothing_makes_nothing_fresh(cli: Cli, docs: Path) -> None:
    before = status(cli)["whole"]
    docs.rename(cli.folder / "away")
    cli.ingest("docs", code=1)
    record = status(cli)
    assert record["whole"] == before
    assert record["last"]["ended"] == "failures"
    assert "could not be listed" in source(cli)["remedy"]
    docs.mkdir()
    cli.ingest("docs")
    assert "nothing was found" in source(cli)["remedy"]
    assert "nothing was found" in cli("status").stdout.replace("\n", " ")


def test_what_fails_is_counted(cli: Cli, docs: Path) -> None:
    (docs / "a.md").write_bytes(b"\xff\xfe\xff")
    cli.ingest("docs", code=1)
    found = source(cli)
    assert (found["failing"], found["last_ended"]) == (1, "failures")
    assert "chunkprep failures" in found["remedy"]
    (docs / "a.md").write_text("# a\n")
    cli("failures", "--retry")
    found = source(cli)
    assert (found["failing"], found["remedy"]) == (0, None)


def test_a_link_that_dangles_is_its_folder_s_failure(cli: Cli, docs: Path) -> None:
    real = cli.folder / "real"
    (real / "sub").mkdir(parents=True)
    for name in ("c.md", "sub/d.md"):
        (real / name).write_text(f"# {name}\n")
    (docs / "c.md").symlink_to(real / "c.md")
    (docs / "sub").symlink_to(real / "sub")
    cli.ingest("docs")
    assert source(cli)["documents"] == 4
    real.rename(cli.folder / "away")
    cli.ingest("docs", code=1)
    assert source(cli)["remedy"].startswith("`chunkprep failures` says what failed")
    cli.ingest("docs/c.md", code=1)
    found = source(cli)
    assert (found["source"], found["documents"]) == (docs.as_uri(), 4)
    assert "`chunkprep failures` says" in found["remedy"]


def test_a_url_that_is_away_is_the_source_s_failure(cli: Cli, docs: Path) -> None:
    (docs / "index.html").write_text("<h1>Fees</h1><p>None.</p>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(docs))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        cli.ingest(base, f"{base}/a.md", "--collection", "web")
        server.shutdown()
    [host] = status(cli, "--collection", "web")["sources"]
    assert (host["source"], host["documents"], host["remedy"]) == (base, 2, None)
    cli.ingest(f"{base}/a.md", "--collection", "web", code=1)
    [host] = status(cli, "--collection", "web")["sources"]
    assert (host["documents"], host["last_ended"]) == (2, "failures")
    assert "could not be listed" in host["remedy"]


def test_one_file_of_an_archive_is_its_own_source(cli: Cli) -> None:
    with zipfile.ZipFile(cli.folder / "docs.zip", "w") as archive:
        archive.writestr("a.md", "# a\n")
    url = f"zip://a.md::{cli.folder / 'docs.zip'}"
    cli.ingest(url)
    assert (source(cli)["source"], source(cli)["remedy"]) == (url, None)
    (cli.folder / "docs.zip").rename(cli.folder / "away")
    cli.ingest(url, code=1)
    assert source(cli)["source"] == url
    assert "could not be listed" in source(cli)["remedy"]


def test_an_ingest_that_did_not_end_is_told(cli: Cli, docs: Path) -> None:
    assert docs.is_dir()
    with Store.open(cli.url) as store:
        run_id = store.start_run("default", now=now())
        assert "under way, or was killed" in cli("status").stderr
        store.finish_run(run_id, now=now(), summary={"error": "disk\nfull", "stopped": True})
    assert f"default: the last ingest, {run_id[:12]}: it broke off: disk full\n" == (
        cli("status", "--max-age", "1h").stderr
    )


def test_what_was_never_ingested_whole_is_too_old(cli: Cli) -> None:
    cli("status", code=2)
    (cli.folder / "empty").mkdir()
    cli.ingest("empty")
    assert status(cli)["whole"] is None
    said = cli("status", "--max-age", "1d", code=1).stderr
    assert "too old: default: never ingested whole (0 documents)" in said
    cli("status", "--collection", "nosuch", code=2)


@pytest.mark.parametrize("age", ["26", "h", "-1h", "1w", "1h30m", "nan", "9999999h"])
def test_an_age_that_is_none_is_refused(cli: Cli, docs: Path, age: str) -> None:
    assert docs.is_dir()
    assert "write a number and d, h, m or s" in cli("status", "--max-age", age, code=2).stderr
