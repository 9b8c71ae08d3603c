"""What goes to stdout (data) and to stderr (talk)."""

from __future__ import annotations

import json
import sys
from codecs import lookup
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import TextIOWrapper
from typing import Any, TextIO

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 200
"""Columns of a table that goes to a file or a pipe."""


def escape_the_unwritable() -> None:
    """Have stdout and stderr show as escapes what their encoding cannot write, names of files say;
    work that is done would else end in an error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """One JSON object as one line on stdout, in ASCII where that is no UTF-8."""
    line = json_line(value)
    utf8 = lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    click.echo(line if utf8 else json.dumps(orjson.loads(line)))


def json_line(value: Any) -> str:
    """Stable JSON of plain values, dataclasses and pydantic models, on one line."""
    return orjson.dumps(value, default=_plain).decode()


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def talk(message: str) -> None:
    """A line on stderr."""
    click.echo(visible(message, keep="\n\t"), err=True)


def visible(text: str, *, keep: str = "") -> str:
    """The text with control characters as escapes, but for those to keep: names of files may hold
    some that a terminal obeys.
    """
    return text if text.isprintable() else text.translate(_without(keep))


@cache
def _without(keep: str) -> dict[int, str]:
    shown = {code: repr(chr(code))[1:-1] for code in _CONTROLS}
    return {code: escape for code, escape in shown.items() if chr(code) not in keep}


_CONTROLS = (
    *range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)
)  # fmt: skip
"""C0, DEL, C1, and what parts lines or turns the direction of writing."""


def console(stream: TextIO) -> Console:
    """A rich console on a stream: as wide as the terminal, or WIDE where there is none."""
    return Console(file=stream, width=None if stream.isatty() else WIDE, highlight=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
    err: bool = False,
) -> None:
    """A table on stdout, or on stderr; `right` names the columns of numbers."""
    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(shown(cell))) for cell in row))
    console(sys.stderr if err else sys.stdout).print(table)


def shown(value: object) -> str:
    """A cell: nothing for None, words for lists, groups of three for numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def print_records(
    records: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    as_json: bool,
    right: Sequence[str] = (),
) -> None:
    """JSON lines, or a table of the named columns."""
    if as_json:
        for record in records:
            print_json(record)
        return
    print_table(columns, ([r.get(c) for c in columns] for r in records), right=right)
