"""Migrations: they build the declared tables, and the store refuses any other schema."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from chunkprep_ingest.errors import SchemaError, StoreError
from chunkprep_store import Store, tables
from chunkprep_store.engine import Database
from chunkprep_store.schema import HEAD, migrations_folder, upgrade

SEARCH = "chunk_search"


def _declared(entry: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
    """All but each database's own text index."""
    return not (kind == "table" and str(name).startswith(SEARCH))


def test_all_migrations_applied_equal_the_declared_tables(store: Store) -> None:
    with store.database.snapshot() as connection:
        options = {"include_object": _declared, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, tables.metadata) == []


def test_constraints_are_named(store: Store) -> None:
    with store.database.snapshot() as connection:
        inspector = sa.inspect(connection)
        for table in tables.metadata.tables:
            assert inspector.get_pk_constraint(table)["name"] == f"pk_{table}"
            assert all(key["name"] for key in inspector.get_foreign_keys(table))
            assert all(key["name"] for key in inspector.get_unique_constraints(table))


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_an_absent_file_is_created_at_the_current_schema(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'new.db'}") as store:
        assert store.schema() == (HEAD, HEAD, True)
        assert store.collections() == []


@pytest.mark.parametrize("version", ["0000", "9999"])
def test_another_schema_is_refused_by_name(store: Store, store_url: str, version: str) -> None:
    with store.database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :v"), {"v": version})
    with pytest.raises(SchemaError, match="db upgrade" if version < HEAD else "newer"):
        Store.open(store_url)


def test_a_file_that_is_another_database_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'other.db'}"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE mine (id INTEGER)")
    engine.dispose()
    with pytest.raises(StoreError, match="no chunkprep store"):
        Store.open(url)


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://root@localhost/x", "sqlite://", "sqlite:///:memory:"]
)
def test_what_is_no_store_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="sqlite"):
        Store.open(url)


def test_a_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look like one\n" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(f"sqlite:///{path}")


def _open(url: str) -> None:
    Store.open(url, create=True).close()


def test_processes_that_create_one_store_together_all_succeed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    url = f"sqlite:///{tmp_path / 'together.db'}"
    workers = [context.Process(target=_open, args=(url,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    _open(url)


def test_what_an_earlier_schema_holds_is_kept(store_url: str) -> None:
    """Back to schema 0003 by hand, and up again: failures and runs are still there."""
    with Store.open(store_url) as store:
        run = store.start_run("c", now=1)
        store.record_failure(
            "c", "a.md", uri="file:a.md", code="corrupt", message="m", remedy="r", now=2,
            attempt_key="key", run_id=run,
        )  # fmt: skip
        with store.database.write() as connection:
            for statement in (
                "ALTER TABLE failures RENAME COLUMN attempt_key TO bytes_hash",
                "ALTER TABLE runs DROP COLUMN flow_run_id",
                "CREATE INDEX ix_pack_chunks_chunk_id ON pack_chunks (chunk_id)",
                "UPDATE alembic_version SET version_num = '0003'",
            ):
                connection.execute(sa.text(statement))
    database = Database(store_url)
    upgrade(database)
    database.close()
    with Store.open(store_url) as store:
        [failure] = store.failures("c")
        assert (failure.attempt_key, failure.attempts, failure.flow_run_id) == ("key", 1, None)
        assert [found.run_id for found in store.runs("c")] == [run]
