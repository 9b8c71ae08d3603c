"""A SQLite store that another writer holds: the wait is told, ends, and lets signals through."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.stopping import Running, wait_until

from chunkprep_ingest.errors import ConflictError
from chunkprep_store import Store, engine

TOLD = "waiting for another writer of"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of a store with a collection."""
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        store.start_run("default", now=1, settings={})
    return tmp_path / "store.db"


@pytest.fixture
def writer(file: Path) -> Iterator[sqlite3.Connection]:
    """Another writer, in the midst of a transaction."""
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def start_run(file: Path) -> str:
    with Store.open(f"sqlite:///{file}", create=False) as store:
        return store.start_run("default", now=1, settings={})


def test_a_writer_that_never_ends_is_a_conflict_in_the_end(
    file: Path,
    writer: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 2.0)
    monkeypatch.setattr(engine, "BUSY_TOLD_SECONDS", 0.1)
    with caplog.at_level(logging.WARNING), pytest.raises(ConflictError, match="let them end"):
        start_run(file)
    assert [record.getMessage() for record in caplog.records] == [f"{TOLD} {file}"]


def test_a_writer_that_ends_is_waited_for(
    file: Path,
    writer: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(engine, "BUSY_TOLD_SECONDS", 0.1)
    wrote: list[str] = []
    waiting = threading.Thread(target=lambda: wrote.append(start_run(file)))
    waiting.start()
    wait_until(lambda: TOLD in caplog.text)
    assert not wrote
    writer.execute("COMMIT")
    waiting.join()
    assert len(wrote) == 1


@pytest.mark.usefixtures("writer")
@pytest.mark.parametrize(
    "command",
    [["prune", "--older-than", "1"], ["ingest", "docs", "--direct"], ["keys", "add", "a"]],
)
def test_ctrl_c_ends_the_wait_of_a_command(file: Path, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    running = Running(tmp_path, *command, "--store", f"sqlite:///{file}")
    stopped = running.stop_once(lambda: TOLD in running.said, group=True)
    stopped.check()
    assert stopped.err.count(TOLD) == 1
    assert stopped.seconds < engine.BUSY_SECONDS / 2
