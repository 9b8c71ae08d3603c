"""db: the store's schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_json, talk
from chunkprep_flows.options import Command, Group, json_option, store_option

if TYPE_CHECKING:
    from chunkprep_store import SchemaState
    from chunkprep_store.engine import Database


@contextmanager
def database_at(url: str) -> Iterator[Database]:
    """The database behind a store, whatever its schema."""
    from chunkprep_store.engine import Database

    with closing(Database(url)) as database:
        yield database


def state_of(database: Database) -> SchemaState:
    """Its schema; a SQLite file that is not there yet is not made by looking."""
    from chunkprep_store.schema import HEAD, SchemaState, state

    if database.fresh:
        return SchemaState(None, HEAD, False)
    return state(database)


@click.group(cls=Group, example="chunkprep db upgrade --store postgresql://localhost/docs")
def db() -> None:
    """Upgrade and check the store's schema."""


@db.command(cls=Command, example="chunkprep db upgrade")
@store_option
@json_option
def upgrade(store: str, as_json: bool) -> None:
    """Bring the schema to what this program works with, making an absent one."""
    from chunkprep_store import schema

    with database_at(store) as database:
        before = state_of(database).current
        schema.upgrade(database)
        after = schema.state(database).current
    if as_json:
        print_json({"from": before, "to": after})
    elif before == after:
        talk(f"schema {after} is current; nothing to do")
    else:
        talk(f"schema upgraded from {before or 'none'} to {after}")


@db.command(cls=Command, example="chunkprep db current")
@store_option
@json_option
def current(store: str, as_json: bool) -> None:
    """Print the schema's revision."""
    with database_at(store) as database:
        state = state_of(database)
    if as_json:
        print_json(state)
    else:
        click.echo(state.current or "none")


@db.command(cls=Command, example="chunkprep db check")
@store_option
@json_option
@click.pass_context
def check(ctx: click.Context, /, store: str, as_json: bool) -> None:
    """Check whether the schema is current: exit 0 if it is, else 1."""
    from chunkprep_store.schema import refuse_foreign

    with database_at(store) as database:
        refuse_foreign(database)
        state = state_of(database)
    if as_json:
        print_json(state)
    elif state.ok:
        talk(f"schema {state.current} is current")
    else:
        talk(state.wrong)
    ctx.exit(0 if state.ok else 1)
