"""Columns and tables that say what they hold: `doc` and `info` feed docs/reference/tables.md."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=NAMING)

MEANING = "meaning"
"""The key of a table's `info` under which it says what a row is."""

_Key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A row number; SQLite counts up only in a column of type INTEGER."""


def table(name: str, meaning: str, *parts: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    """A table; `meaning` says what a row is."""
    return sa.Table(name, metadata, *parts, info={MEANING: meaning}, **options)


def row_number() -> sa.Column[int]:
    """The primary key of a table whose rows have no name of their own."""
    return sa.Column("id", _Key, primary_key=True, autoincrement=True, doc="The row's number.")


def part_of(name: str, target: str, meaning: str, *, key: bool = False) -> sa.Column[int]:
    """A reference to the row that this one goes with, and is deleted with."""
    owner = sa.ForeignKey(target, ondelete="CASCADE")
    if key:
        return sa.Column(name, _Key, owner, primary_key=True, autoincrement=False, doc=meaning)
    return sa.Column(name, _Key, owner, nullable=False, doc=meaning)


def loose_number(name: str, meaning: str) -> sa.Column[int]:
    """The number of a row that may be gone."""
    return sa.Column(name, _Key, doc=meaning)


def text(
    name: str, meaning: str, default: str | None = None, *, optional: bool = False
) -> sa.Column[str]:
    """A text."""
    return sa.Column(name, sa.Text, nullable=optional, server_default=default, doc=meaning)


def text_key(name: str, meaning: str) -> sa.Column[str]:
    """A text that is (part of) the primary key."""
    return sa.Column(name, sa.Text, primary_key=True, doc=meaning)


def whole(
    name: str, meaning: str, default: str | None = None, *, optional: bool = False
) -> sa.Column[int]:
    """A whole number."""
    return sa.Column(name, sa.Integer, nullable=optional, server_default=default, doc=meaning)


def large(name: str, meaning: str, default: str | None = None) -> sa.Column[int]:
    """A whole number that may pass two thousand million."""
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=default, doc=meaning)


def counted_key(name: str, kind: type[sa.Integer], meaning: str) -> sa.Column[int]:
    """A number, drawn by us, that is part of the primary key."""
    return sa.Column(name, kind, primary_key=True, autoincrement=False, doc=meaning)


def moment(name: str, meaning: str, *, optional: bool = False) -> sa.Column[int]:
    """Microseconds since 1970 UTC."""
    return sa.Column(name, sa.BigInteger, nullable=optional, doc=meaning)


def flag(name: str, meaning: str) -> sa.Column[bool]:
    """Yes or no."""
    return sa.Column(name, sa.Boolean, nullable=False, doc=meaning)


def share(name: str, meaning: str) -> sa.Column[float]:
    """A number from 0 to 1."""
    return sa.Column(name, sa.Float, nullable=False, doc=meaning)


def data(name: str, meaning: str) -> sa.Column[bytes]:
    """Bytes."""
    return sa.Column(name, sa.LargeBinary, nullable=False, doc=meaning)
