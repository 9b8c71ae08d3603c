"""keys: who may call the HTTP service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from chunkprep_flows.console import print_json, print_records, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import (
    DEFAULT_COLLECTION,
    Command,
    Group,
    Option,
    json_option,
    name_given,
    option,
    store_option,
)
from chunkprep_ingest.lifecycle import iso

if TYPE_CHECKING:
    from chunkprep_store.keys import ApiKey, Role

ALL = "*"
COLUMNS = ("key_id", "name", "role", "collections", "access", "created_at", "revoked_at")


class Names(Option):
    """A repeatable option whose value in a file or the environment may be one text."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """One text is one name."""
        return super().type_cast_value(ctx, (value,) if isinstance(value, str) else value)


@click.group(cls=Group, example="chunkprep keys add assistant --collection handbook")
def keys() -> None:
    """Make, list and revoke API keys of the HTTP service."""


@keys.command(cls=Command, example="chunkprep keys add assistant --collection handbook --access hr")
@click.argument("name", type=name_given)
@click.option(
    "--collection", "collections", cls=Names, multiple=True, default=(DEFAULT_COLLECTION,),
    type=name_given, metavar="NAME", help="A collection that it may use, * for all; repeatable.",
)  # fmt: skip
@click.option(
    "--access", cls=Names, multiple=True, type=name_given, metavar="LABEL",
    help="A label that it may claim and see, * for all; repeatable (default: none).",
)  # fmt: skip
@option(
    "--role", type=click.Choice(["read", "admin"]), default="read",
    help="read: pack, search, chunks, documents; admin: also audit, logged packs, changes.",
)  # fmt: skip
@store_option
@json_option
def add(
    name: str,
    collections: tuple[str, ...],
    access: tuple[str, ...],
    role: Role,
    store: str,
    as_json: bool,
) -> None:
    """Make a key and print it: this once, for the store keeps only its hash."""
    from chunkprep_packer.service.keys import issue

    token, key = issue(name, role, names(collections), names(access), now=now())
    with opened(store) as target:
        target.add_api_key(key)
    if as_json:
        print_json({**key_record(key), "key": token})
    else:
        click.echo(token)
        talk(f"key {key.key_id} for {name}: keep it, it cannot be shown again")


@keys.command("list", cls=Command, example="chunkprep keys list")
@store_option
@json_option
def list_keys(store: str, as_json: bool) -> None:
    """List the keys, revoked ones too; * stands for all."""
    with opened(store) as source:
        records = [key_record(key) for key in source.api_keys()]
    print_records(records, COLUMNS, as_json=as_json)


@keys.command(cls=Command, example="chunkprep keys revoke 3f9a1c0b7d24")
@click.argument("key_id")
@store_option
def revoke(key_id: str, store: str) -> None:
    """End a key: a running service stops taking it within seconds.

    When the last key is revoked, the service lets nobody in, rather than everybody.
    """
    with opened(store) as target:
        target.revoke_api_key(key_id, now=now())
    talk(f"key {key_id} is revoked")


def names(given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names as a key holds them; None for all."""
    return None if ALL in given else given


def key_record(key: ApiKey) -> dict[str, Any]:
    """One line of `keys list --json`: everything but the hash."""
    return {
        "key_id": key.key_id,
        "name": key.name,
        "role": key.role,
        "collections": [ALL] if key.collections is None else list(key.collections),
        "access": [ALL] if key.access is None else list(key.access),
        "created_at": iso(key.created_at),
        "revoked_at": iso(key.revoked_at),
    }
