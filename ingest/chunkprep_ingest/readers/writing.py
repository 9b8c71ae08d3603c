"""Writing what a reader found as one Markdown text, with the elements over it."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkprep_ingest.decode import clean
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.headings import first_heading, heading_name, heading_text
from chunkprep_ingest.model import Element, ElementKind, ParsedDocument

_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_INDENT = "  "


class Found(NamedTuple):
    """One thing that a reader found, before it is written.

    `text` of a title is its name, of code the code alone, of a list item its text without the
    marker, of a table a Markdown table. `marker` is a list item's ("-", "1."), or the language
    of code.
    """

    kind: ElementKind
    text: str
    depth: int = 0
    page: int | None = None
    marker: str = ""


class TextWriter:
    """Collects what a reader finds; `document` gives it as text and elements."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._elements: list[Element] = []
        self._length = 0

    def add(self, found: Found) -> None:
        """Write one element. Blank ones are left out."""
        text = clean(found.text).rstrip()
        text = text[_blank_lines(text) :]
        if not text:
            return
        text = _WRITERS[found.kind](found, text)
        if self._elements:
            both_items = found.kind == self._elements[-1].kind == "list_item"
            self._append("\n" if both_items else "\n\n")
        start = self._length
        self._append(text)
        self._elements.append(Element(found.kind, start, self._length, found.depth, found.page))

    def copy(self, document: ParsedDocument, *, deeper: int) -> None:
        """Write a document as a part of this one, its headings so many levels deeper."""
        end = document.elements[0].start
        between = "\n\n"
        for element in document.elements:
            start = element.start
            self._append(between if start == end else document.text[end:start])
            text, end = document.text[start : element.end], element.end
            depth = element.depth
            if element.kind == "title":
                depth += deeper
                text = heading_text(heading_name(text), depth)
            begin = self._length
            self._append(text)
            self._elements.append(Element(element.kind, begin, self._length, depth, None))

    def document(
        self,
        name: str,
        reader: str,
        *,
        title: str | None = None,
        warnings: tuple[str, ...] = (),
    ) -> ParsedDocument:
        """All that was added. Raises ReadError (empty) where that was nothing."""
        if not self._elements:
            raise ReadError("empty", f"{name} holds no text")
        text = "".join(self._pieces)
        title = title or first_heading(text, self._elements)
        return ParsedDocument(text, tuple(self._elements), reader, title=title, warnings=warnings)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _blank_lines(text: str) -> int:
    """The length of the blank lines at the front of `text`."""
    lead = len(text) - len(text.lstrip())
    return text.rfind("\n", 0, lead) + 1


def fenced(code: str, language: str = "") -> str:
    """`code` between fences longer than any run of backticks that starts a line in it."""
    longest = max((len(match) for match in _FENCES.findall(code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _title(found: Found, text: str) -> str:
    return heading_text(" ".join(text.split()), found.depth)


def _paragraph(found: Found, text: str) -> str:  # noqa: ARG001 - one shape for all writers
    return text.lstrip()


def _list_item(found: Found, text: str) -> str:
    indent = _INDENT * found.depth
    marker = found.marker or "-"
    below = "\n" + indent + " " * (len(marker) + 1)
    return f"{indent}{marker} {below.join(text.strip().splitlines())}"


def _code(found: Found, text: str) -> str:
    return fenced(text, found.marker)


_WRITERS = {
    "title": _title,
    "paragraph": _paragraph,
    "list_item": _list_item,
    "table": _paragraph,
    "code": _code,
}
