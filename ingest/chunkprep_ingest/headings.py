"""What a heading is called: its source text without the markup that makes it a heading."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chunkprep_ingest.model import Element

MAX_HASHES = 6
"""Markdown knows six heading levels; deeper ones are written with six hashes."""

_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE)
_ATX = re.compile(r"#{1,6}(?: |$)")
_CLOSING = re.compile(r"(?:^| )#+$")
_UNDERLINE = re.compile(r"^[ \t]*(?:=+|-+)[ \t]*$")


def heading_name(text: str) -> str:
    """The name of the heading that `text` is the source of, on one line.

    Strips opening and closing hashes or a setext underline; inline markup stays as written.
    """
    if text[:1] == "#" and "\n" not in text:  # the common form, without patterns
        name = text.lstrip("#")
        if name[:1] in " \t" and len(text) - len(name) <= MAX_HASHES and name[-1:] != "#":
            return " ".join(name.split())
    lines = _QUOTE.sub("", text.strip()).splitlines()
    if len(lines) > 1 and _UNDERLINE.match(lines[-1]):
        name = " ".join(lines[:-1])
    else:
        name = " ".join(" ".join(lines).split())
        opened = _ATX.match(name)
        if opened:
            name = _CLOSING.sub("", name[opened.end() :])
    return " ".join(name.split())


def first_heading(text: str, elements: Iterable[Element]) -> str | None:
    """The name of the first heading of level 1, which is what a document calls itself."""
    for element in elements:
        if element.kind == "title" and element.depth == 1:
            return heading_name(text[element.start : element.end]) or None
    return None


def heading_text(name: str, depth: int) -> str:
    """A heading as Markdown writes it: hashes for its depth (1 is the highest), then its name."""
    return "#" * max(1, min(depth, MAX_HASHES)) + " " + name
