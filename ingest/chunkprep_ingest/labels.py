"""What a header says: title and heading path, shortened from the root where it grows too long."""

from __future__ import annotations

from typing import NamedTuple

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.template import PATH_SEPARATOR, Template, clean_label

ELLIPSIS = "\u2026"


class Header(NamedTuple):
    """A rendered header and its cost in tokens."""

    text: str
    tokens: int


class Headers:
    """Renders and prices headers, each once.

    A header costs at most `limit` tokens, or what the shortest one costs.
    """

    def __init__(self, template: Template, counter: Counter, title: str, limit: int) -> None:
        self.template = template
        self.counter = counter
        self.title = title
        self.limit = limit
        self._known: dict[tuple[str, ...], Header] = {}

    def of(self, path: tuple[str, ...]) -> Header:
        """The header of a chunk whose heading path is `path`."""
        header = self._known.get(path)
        if header is None:
            header = self._known[path] = self._shortened(self._parts(path))
        return header

    def _parts(self, path: tuple[str, ...]) -> list[str]:
        """Title, then path; a top heading that repeats the title is left out."""
        if path and path[0] == self.title:
            return list(path)
        return [self.title, *path]

    def _render(self, label: str) -> Header:
        text = self.template.header(clean_label(self.template, label))
        return Header(text, self.counter.count(text))

    def _shortened(self, parts: list[str]) -> Header:
        header = self._render(PATH_SEPARATOR.join(parts))
        while header.tokens > self.limit and len(parts) > 1:
            parts = parts[1:]
            header = self._render(PATH_SEPARATOR.join([ELLIPSIS, *parts]))
        words = parts[0].split()
        while header.tokens > self.limit and len(words) > 1:
            words = words[: max(1, len(words) * 3 // 4)]
            header = self._render(" ".join(words) + ELLIPSIS)
        if header.tokens > self.limit:
            header = self._render(ELLIPSIS)
        return header
