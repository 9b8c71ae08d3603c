"""Two sources of one run that would be the same document: both fail, the rest goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Cli

COMPOSED, DECOMPOSED = "caf\u00e9.md", "cafe\u0301.md"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a web server on the folder `served`."""
    monkeypatch.setenv("CHUNKPREP_MIRROR", str(tmp_path / "mirrors"))
    for name in ("a", "b"):
        (tmp_path / "served" / name).mkdir(parents=True)
        (tmp_path / "served" / name / "index.md").write_text(f"# Page {name}\n")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def clashes(report: Any) -> list[str]:
    return [
        d["error"]["message"]
        for d in report["documents"]
        if d["error"] and d["error"]["code"] == "key_clash"
    ]


def write(cli: Cli, *names: str) -> None:
    (cli.folder / "docs").mkdir(exist_ok=True)
    for name in names:
        (cli.folder / "docs" / name).write_text(f"# {name!a}\n")


def test_a_clash_leaves_what_is_stored_in_force_and_the_rest_goes_on(cli: Cli) -> None:
    write(cli, COMPOSED, "gone.md")
    cli.ingest("docs")
    write(cli, DECOMPOSED, "new.md")
    (cli.folder / "docs" / "gone.md").unlink()
    report = cli.ingest("docs", "--sync", code=1)
    assert len(clashes(report)) == 2
    assert (report["new"], report["withdrawn"], report["failed"]) == (1, 1, 2)
    assert report["warnings"] == []
    stored = {d["document"]: (d["version"], d["status"]) for d in cli.lines("docs")}
    assert stored[COMPOSED] == (1, "active")
    [failure] = cli.lines("failures", code=1)
    assert (failure["document"], failure["code"], failure["attempts"]) == (COMPOSED, "key_clash", 1)
    assert "--collection" in failure["remedy"]


def test_trying_a_clash_again_lets_neither_win(cli: Cli) -> None:
    write(cli, COMPOSED, DECOMPOSED)
    cli.ingest("docs", code=1)
    [failure] = cli.lines("failures", "--retry", code=1)
    assert failure["code"] == "key_clash"
    assert cli.lines("docs") == []
    (cli.folder / "docs" / DECOMPOSED).unlink()
    assert cli.ingest("docs")["new"] == 1
    assert cli.lines("failures") == []


def test_pages_of_one_name_are_told_by_their_urls(cli: Cli, web: str) -> None:
    one, two = f"{web}/a/index.md", f"{web}/b/index.md"
    report = cli.ingest(one, two, code=1)
    assert clashes(report) == [
        f"{one} and {two} would be the same document, index.md",
        f"{two} and {one} would be the same document, index.md",
    ]
    assert [f["code"] for f in cli.lines("failures", "--retry", code=1)] == ["key_clash"]
    assert cli.ingest(one)["new"] == 1
    assert cli.ingest(two, "--collection", "b")["new"] == 1
    assert cli.lines("failures") == []


def test_pages_that_differ_in_their_query_show_none_of_it(cli: Cli, web: str) -> None:
    page = f"{web}/a/index.md"
    report = cli.ingest(f"{page}?id=hush1", f"{page}?id=hush2", code=1)
    told = f"{page} and the same URL with another query would be the same document, index.md"
    assert clashes(report) == [told, told]
    assert "hush" not in str(cli.lines("failures", code=1))
