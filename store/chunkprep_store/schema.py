"""The schema's state, and bringing it to the current one (Alembic, migrations/)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.errors import SchemaError, StoreError
from chunkprep_store.engine import Database

HEAD = "0005"
"""The newest migration: what this program works with (a test holds it equal to the files)."""


class SchemaState(NamedTuple):
    """`current` is None for an empty database."""

    current: str | None
    head: str
    ok: bool

    @property
    def newer(self) -> bool:
        """Whether a later chunkprep made it."""
        return self.current is not None and self.current > self.head

    @property
    def wrong(self) -> str:
        """What is wrong with it, where it is not `ok`, and what to do."""
        if self.newer:
            return (
                f"schema {self.current}, newer than this program's {self.head}; upgrade chunkprep"
            )
        return (
            f"schema {self.current or 'none'}, this program needs {self.head}; run "
            f"`chunkprep db upgrade`"
        )


def state(database: Database) -> SchemaState:
    """Which migration the database is at."""
    with database.snapshot() as connection:
        known = sa.inspect(connection).has_table("alembic_version")
        current = (
            connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
            if known
            else None
        )
    return SchemaState(current, HEAD, current == HEAD)


def require_current(database: Database) -> None:
    """Raise SchemaError, naming the remedy, unless the database is at HEAD."""
    found = state(database)
    if found.ok:
        return
    refuse_foreign(database)
    raise SchemaError(f"{database.shown_url} has {found.wrong}")


def refuse_foreign(database: Database) -> None:
    """Raise StoreError for another program's SQLite file; a PostgreSQL database may be shared."""
    if database.dialect != "sqlite" or database.fresh:
        return
    with database.snapshot() as connection:
        there = set(sa.inspect(connection).get_table_names())
    if there and not {"alembic_version", "collections"} & there:
        raise StoreError(
            f"{database.url.database} is no chunkprep store: it holds tables of another program; "
            f"check --store"
        )


def migrations_folder() -> Path:
    """Where migrations/ is: inside the wheel, or beside the source roots in a checkout."""
    package = Path(str(files("chunkprep_store")))
    for folder in (package / "migrations", package.parent.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise StoreError("chunkprep's migrations are not installed; install chunkprep again")


def upgrade(database: Database) -> None:
    """Bring the schema to HEAD in one transaction; a second process waits and finds it done.

    Raises SchemaError where it is newer, StoreError for another program's file.
    """
    refuse_foreign(database)
    found = SchemaState(None, HEAD, False) if database.fresh else state(database)
    if found.newer:
        raise SchemaError(f"{database.shown_url} has {found.wrong}")
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.set_main_option("path_separator", "os")
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_UPGRADE_LOCK)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


_UPGRADE_LOCK = 0x63686B70  # "chkp"
