"""db: the store's schema."""

from __future__ import annotations

import click

from chunkprep_flows.console import print_json, talk
from chunkprep_flows.options import json_option, store_option


@click.group()
def db() -> None:
    """Upgrade and check the store's schema.

    \b
    Example:
        chunkprep db upgrade --store postgresql://localhost/docs
    """


@db.command()
@store_option
@json_option
def upgrade(store: str, as_json: bool) -> None:
    """Bring the schema to what this program works with, making an absent one.

    \b
    Example:
        chunkprep db upgrade
    """
    from chunkprep_store import Store

    before, after = Store.upgrade_at(store)
    if as_json:
        print_json({"from": before, "to": after})
    elif before == after:
        talk(f"schema {after} is current; nothing to do")
    else:
        talk(f"schema upgraded from {before or 'none'} to {after}")


@db.command()
@store_option
@json_option
def current(store: str, as_json: bool) -> None:
    """Print the schema's revision.

    \b
    Example:
        chunkprep db current
    """
    from chunkprep_store import Store

    state = Store.schema_at(store)
    if as_json:
        print_json(state)
    else:
        click.echo(state.current or "none")


@db.command()
@store_option
@json_option
@click.pass_context
def check(ctx: click.Context, store: str, as_json: bool) -> None:
    """Check whether the schema is current: exit 0 if it is, else 1.

    \b
    Example:
        chunkprep db check
    """
    from chunkprep_store import Store

    state = Store.schema_at(store)
    if as_json:
        print_json(state)
    elif state.ok:
        talk(f"schema {state.current} is current")
    else:
        talk(f"schema {state.current or 'none'}, needed is {state.head}; run `chunkprep db upgrade`")
    ctx.exit(0 if state.ok else 1)
