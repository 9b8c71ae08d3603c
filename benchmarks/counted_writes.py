"""Counting what is written to a SQLite store: by triggers, whoever writes and however."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def counted_writes(file: Path) -> Iterator[dict[str, int]]:
    """Rows written meanwhile to each table of the SQLite file, the same values or others."""
    found: dict[str, int] = {}
    with closing(sqlite3.connect(file)) as connection:
        kinds = connection.execute("PRAGMA table_list").fetchall()
        tables = [
            row[1]
            for row in kinds
            if row[0] == "main" and row[2] == "table" and not row[1].startswith("sqlite_")
        ]
        connection.execute("CREATE TABLE bench_written (name TEXT)")
        for table in tables:
            for event in ("INSERT", "UPDATE", "DELETE"):
                connection.execute(
                    f'CREATE TRIGGER "bench_{table}_{event}" AFTER {event} ON "{table}" '
                    f"BEGIN INSERT INTO bench_written VALUES ('{table}'); END"
                )
        connection.commit()
    yield found
    with closing(sqlite3.connect(file)) as connection:
        query = "SELECT name, count(*) FROM bench_written GROUP BY name ORDER BY name"
        found |= dict(connection.execute(query).fetchall())
