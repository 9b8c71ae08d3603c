"""Connections: what is no database, and one that went away."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from chunkprep_ingest.errors import StoreError, StoreMovedError, UnavailableError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.template import TEMPLATES
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match=r"does not answer: .*; check --store") as caught:
        Store.open("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2")
    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_that_does_not_exist_is_named() -> None:
    with pytest.raises(StoreError, match="/nonexistent/folder does not exist"):
        Store.open("sqlite:////nonexistent/folder/store.db")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}", f"sqlite:///{tmp_path}/"):
        with pytest.raises(StoreError, match="is a folder"):
            Store.open(url)


@pytest.mark.parametrize("create", [None, True, False])
def test_a_file_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, create: bool | None
) -> None:
    file = tmp_path / "other.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE songs (name TEXT)")
    other.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="no chunkprep store"):
        Store.open(f"sqlite:///{file}", create=create)
    assert len(file.read_bytes()) == len(before)
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at " * 9)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(f"sqlite:///{tmp_path / 'text.db'}")


def test_a_store_opened_to_read_only_is_read_and_not_changed(
    tmp_path: Path, prepare: Prepare
) -> None:
    file = tmp_path / "store.db"
    with Store.open(f"sqlite:///{file}") as store:
        store.put_profile("profile-1", "words", TEMPLATES["markdown"].to_json(), 0)
        store.write_version("c", prepare("a.md", "# A\n\nApples are red."), now=100)
    before = file.read_bytes()
    with Store.open(f"sqlite:///{file}?mode=ro") as store:
        assert store.read_only
        assert [d.document for d in store.documents("c")] == ["a.md"]
        hits = store.search("c", "apples", top=5, at=200)
        assert list(store.audit("c", now=200)) == []
        with pytest.raises(StoreError, match="read-only"):
            store.withdraw("c", "a.md", now=300)
        request = PackRequest(
            collection="c", budget=50, candidates=[Candidate(h.chunk_id, h.score) for h in hits]
        )
        with Packer(store) as packer:
            packed = packer.pack(request)
            silent = packer.pack(request.model_copy(update={"log": False}))
        assert packed.used_tokens > 0
        assert [w.split(":")[0] for w in packed.warnings] == ["log_dropped"]
        assert silent.warnings == []
    assert file.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    Store.open(f"sqlite:///{tmp_path / 'store.db'}").close()
    (tmp_path / "store.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
            assert store.read_only
            assert store.collections() == []
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.postgres
def test_a_dropped_connection_is_replaced(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        store.start_run("c", now=1)
        assert store.lookup("c", ["x"], at=1).rows == []
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert store.lookup("c", ["x"], at=1).rows == []
        assert list(store.documents("c")) == []
        store.start_run("c", now=2)


def test_the_password_is_not_shown(store: Store) -> None:
    shown = store.database.url.set(password="secret").render_as_string(hide_password=True)
    assert "secret" not in shown
    assert "secret" not in store.url


def test_a_file_that_is_moved_is_told_and_none_is_made_in_its_place(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "store.db", tmp_path / "elsewhere.db"
    with Store.open(f"sqlite:///{path}") as store:
        with store.database.snapshot():  # a connection that is in use: the next is another one
            path.rename(elsewhere)
            with pytest.raises(StoreMovedError, match="moved or deleted"):
                store.collections()
            assert not path.exists()
        assert store.collections() == []  # what is open goes on
        with pytest.raises(StoreMovedError):
            store.require_in_place()
        path.write_bytes(elsewhere.read_bytes())
        with pytest.raises(StoreMovedError, match="replaced by another file"):
            store.require_in_place()
        elsewhere.rename(path)
        store.require_in_place()
        with store.database.snapshot():
            assert store.collections() == []


def test_a_store_stays_in_place_when_the_working_directory_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///store.db") as store:
        monkeypatch.chdir("/")
        store.require_in_place()
        with store.database.snapshot():
            assert store.collections() == []
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}?mode=ro") as reading:
        reading.require_in_place()


def test_a_server_is_always_in_place(store: Store) -> None:
    store.require_in_place()
