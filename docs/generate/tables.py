"""docs/reference/tables.md, from the declared tables."""

from __future__ import annotations

import sqlalchemy as sa
from docs.generate.markdown import code, page, table
from sqlalchemy.dialects import postgresql

from chunkprep_store.columns import MEANING
from chunkprep_store.tables import metadata

INTRODUCTION = """\
One schema, on SQLite and on PostgreSQL. Moments are microseconds since 1970 UTC. A column marked
"JSON" holds a JSON text. Types are PostgreSQL's; SQLite has INTEGER for bigint and BLOB for bytea.
Each database's own text index (`chunk_search`) stands beside these.

Read by the library or the command line where you can: they filter by what is in force, and these
tables change with the schema (`chunkprep db current`)."""


def tables() -> str:
    """The page: every table with its columns and constraints."""
    return page("Tables", INTRODUCTION, *(described(each) for each in metadata.tables.values()))


def described(each: sa.Table) -> str:
    """One table."""
    rows = [row(column) for column in each.columns]
    columns = table(("column", "type", "null", "what it means"), rows)
    rules = "\n".join(f"- {rule}" for rule in (*keys(each), *indexes(each)))
    return f"## {each.name}\n\n{each.info[MEANING]}\n\n{columns}\n\n{rules}"


def row(column: sa.Column[object]) -> tuple[str, str, str, str]:
    """One column: its name, type, whether it may be null, and what it means."""
    kind = column.type.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]
    owner = "".join(f" ({code(key.target_fullname)})" for key in column.foreign_keys)
    return (
        code(column.name),
        kind.lower(),
        "yes" if column.nullable else "",
        (column.doc or "") + owner,
    )


def keys(each: sa.Table) -> list[str]:
    """The primary key, and what is unique besides."""
    unique = [c for c in each.constraints if isinstance(c, sa.UniqueConstraint)]
    named = sorted(_names(c.columns.keys()) for c in unique)
    return [
        f"primary key: {_names(each.primary_key.columns.keys())}",
        *(f"unique: {n}" for n in named),
    ]


def indexes(each: sa.Table) -> list[str]:
    """The indexes that no constraint makes."""
    found = sorted(each.indexes, key=lambda index: str(index.name))
    return [
        ("unique where active: " if index.unique else "index: ") + _names(index.columns.keys())
        for index in found
    ]


def _names(columns: list[str]) -> str:
    return ", ".join(map(code, columns))
