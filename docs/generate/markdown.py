"""The little Markdown that the reference is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NOTICE = "<!-- Made by `make reference` from the code; change it there. -->"


def page(title: str, *parts: str) -> str:
    """A page that says where it comes from; parts are parted by a blank line, empty ones go."""
    return "\n\n".join(part for part in (f"# {title}", NOTICE, *parts) if part) + "\n"


def fence(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def prose(text: str) -> str:
    """A docstring; one with a drawing in it stays as it is drawn."""
    return fence("text", text) if "├" in text else text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing where there is no row."""
    body = [_row(map(_cell, row)) for row in rows]
    return "\n".join([_row(head), _row("---" for _ in head), *body]) if body else ""


def code(text: str) -> str:
    """A text as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def anchor(heading: str) -> str:
    """Where a heading of a page is linked to."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
