"""chunkprep.toml: the same names as the options, for all commands or in a table for one.

store = "postgresql://localhost/docs"
collection = "handbook"

[ingest]
cap = 400
exclude = ["drafts/**"]

[db.upgrade]
json = true
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import click

from chunkprep_flows.options import twin_name

FILE_NAME = "chunkprep.toml"


def read_defaults(path: Path | None, group: click.Group) -> dict[str, Any]:
    """The `default_map` for `group` out of the file; {} where there is none.

    `path` None means chunkprep.toml in the working directory, where there is one. Raises
    click.UsageError (exit 2) for a file that cannot be used, naming the line or the key.
    """
    file = path or Path(FILE_NAME)
    if path is None and not file.is_file():
        return {}
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.UsageError(
            f"{file}: {error}; correct the file or name another by --config"
        ) from error
    unknown = unknown_names(written, group, known_names(group))
    if unknown:
        raise click.UsageError(
            f"{file}: {unknown[0]!r} is no option or command; see `chunkprep --help`"
        )
    try:
        return default_map(written, group, {})
    except ValueError as error:
        raise click.UsageError(f"{file}: {error}") from error


def default_map(
    table: Mapping[str, Any], group: click.Group, inherited: Mapping[str, Any]
) -> dict[str, Any]:
    """Nested defaults: each command gets what is written above it and in its own table.

    Raises ValueError for a value of another kind than its option's.
    """
    shared = {**inherited, **values(table)}
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        own = table.get(name, {})
        own = own if isinstance(own, Mapping) else {}
        if isinstance(command, click.Group):
            found[name] = default_map(own, command, shared)
        else:
            found[name] = for_parameters(command, {**shared, **values(own)})
    return found


def values(table: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a table that are no tables, "_" for "-"."""
    return {k.replace("-", "_"): v for k, v in table.items() if not isinstance(v, Mapping)}


def for_parameters(command: click.Command, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the parameter names that click looks up. Raises ValueError."""
    return {
        str(option.name): fitting(option, name, given[name])
        for option in command.params
        if isinstance(option, click.Option) and (name := twin_name(option.opts)) in given
    }


def fitting(option: click.Option, name: str, value: Any) -> Any:
    """The value as click takes it: one text for a repeatable option is a list of one.

    Raises ValueError where the file's kind of value is not the option's.
    """
    if option.multiple:
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(f"{name} must be a list of texts, not {value!r}")
    elif option.is_flag != isinstance(value, bool):
        kind = "true or false" if option.is_flag else "a value"
        raise ValueError(f"{name} must be {kind}, not {value!r}")
    elif isinstance(value, date):  # TOML has dates of its own
        return value.isoformat()
    elif isinstance(value, float):  # 1.5 is no whole number, and click would round it
        return str(value)
    elif not isinstance(value, (str, int)):
        raise ValueError(f"{name} must be one value, not {value!r}")
    return value


def known_names(command: click.Command) -> set[str]:
    """The twin names of every option of a command and of those below it."""
    names = {twin_name(o.opts) for o in command.params if isinstance(o, click.Option)}
    if isinstance(command, click.Group):
        for child in command.commands.values():
            names |= known_names(child)
    return names


def unknown_names(table: Mapping[str, Any], group: click.Group, names: set[str]) -> list[str]:
    """Keys that name neither an option nor, for a table, a command."""
    unknown = [key for key in values(table) if key not in names]
    for key, value in table.items():
        if not isinstance(value, Mapping):
            continue
        command = group.commands.get(key)
        if command is None:
            unknown.append(key)
        elif isinstance(command, click.Group):
            unknown += unknown_names(value, command, known_names(command))
        else:
            unknown += [f"{key}.{k}" for k in values(value) if k not in known_names(command)]
    return unknown
