"""Connections: what is no database, and one that went away."""

from __future__ import annotations

import psycopg
import pytest

from chunkprep_ingest.errors import StoreError, UnavailableError
from chunkprep_store import Store


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="does not answer"):
        Store.open("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2")


def test_a_folder_that_does_not_exist_is_named() -> None:
    with pytest.raises(StoreError, match="unable to open"):
        Store.open("sqlite:////nonexistent/folder/store.db")


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
