"""The audit tells of a source that cannot be read, which hides no more than it may hold."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

NAMES = ("a.md", "b.md", "c.md", "sub/d.md")


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web(folder: Path, port: int) -> Iterator[None]:
    """The folder on a web server, while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


@pytest.fixture
def port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found: int = free.getsockname()[1]
    return found


@pytest.fixture
def docs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of ingested documents."""
    monkeypatch.setenv("CHUNKPREP_MIRROR", str(cli.folder / "mirrors"))
    folder = cli.folder / "docs"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    cli.ingest("docs")
    return folder


def audited(
    cli: Cli, *sources: object, more: tuple[object, ...] = (), code: int = 1
) -> dict[tuple[str, str | None], str]:
    """The messages of an audit of sources, by check and document."""
    named = [part for source in sources for part in ("--sources", source)]
    found = cli.lines("audit", *named, *more, "--fail-on", "warning", code=code)
    return {(f["check"], f["document"]): f["message"] for f in found}


def test_the_audit_tells_of_a_web_server_that_is_down(cli: Cli, docs: Path, port: int) -> None:
    url = f"http://127.0.0.1:{port}/a.md"
    with web(docs, port):
        cli.ingest(url, "--collection", "web")
        assert audited(cli, url, more=("--collection", "web"), code=0) == {}
    for mirror in (cli.folder / "mirrors", cli.folder / "empty"):
        found = audited(cli, url, more=("--collection", "web", "--mirror", mirror))
        [((check, document), message)] = found.items()
        assert (check, document) == ("source_unreadable", "a.md")
        assert url in message
        assert "refused" in message


def test_a_link_to_nothing_hides_no_missing_file_from_the_audit(cli: Cli, docs: Path) -> None:
    (docs / "b.md").unlink()
    (docs / "dang.md").symlink_to("nowhere")
    found = audited(cli, "docs")
    assert found.keys() == {("source_missing", "b.md"), ("source_unreadable", None)}
    assert "docs/dang.md" in found["source_unreadable", None]


def test_a_document_that_became_a_link_to_nothing_is_told(cli: Cli, docs: Path) -> None:
    (docs / "b.md").unlink()
    (docs / "b.md").symlink_to("nowhere")
    assert audited(cli, "docs").keys() == {("source_unreadable", "b.md")}


def test_a_link_to_nothing_hides_what_was_below_it(cli: Cli, docs: Path) -> None:
    shutil.rmtree(docs / "sub")
    (docs / "sub").symlink_to("away")
    (docs / "a.md").unlink()
    found = audited(cli, "docs")
    assert found.keys() == {("source_missing", "a.md"), ("source_unreadable", None)}
    assert found["source_unreadable", None].endswith("; 1 document there not compared")


def test_an_unreadable_folder_hides_what_is_below_it_from_the_audit(cli: Cli, docs: Path) -> None:
    (docs / "a.md").unlink()
    shutil.rmtree(docs / "sub")
    (docs / "sub").mkdir()
    (docs / "sub" / ".chunkprepignore").mkdir()
    found = audited(cli, "docs")
    assert found.keys() == {("source_missing", "a.md"), ("source_unreadable", None)}
    assert found["source_unreadable", None].endswith("; 1 document there not compared")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_told(cli: Cli, docs: Path) -> None:
    (docs / "b.md").chmod(0)
    assert audited(cli, "docs").keys() == {("source_unreadable", "b.md")}


def test_a_file_that_may_not_be_opened_is_told(
    cli: Cli, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, as root sees it."""
    from chunkprep_ingest.regular_file import read_regular

    def refused(path: Path) -> bytes:
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read_regular(path)

    monkeypatch.setattr("chunkprep_flows.auditing.read_regular", refused)
    found = audited(cli, "docs")
    assert found == {("source_unreadable", "b.md"): "docs/b.md: Permission denied"}


def test_files_whose_keys_clash_are_told(cli: Cli, docs: Path) -> None:
    shutil.copytree(docs, cli.folder / "more")
    found = audited(cli, "docs", "more")
    assert found.keys() == {("source_unreadable", name) for name in NAMES}
