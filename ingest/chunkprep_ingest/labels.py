"""What a header says: title and heading path, shortened from the root where it grows too long."""

from __future__ import annotations

from typing import NamedTuple

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.finecuts import cluster_edge
from chunkprep_ingest.template import PATH_SEPARATOR, Template, clean_label

ELLIPSIS = "\u2026"
_LONGEST_TOKEN = 16  # characters: a label of more than that for each token allowed is too long


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
        """Parts go from the root, then words, then grapheme clusters of the last part's end."""
        whole = parts
        parts = self._at_sight(parts)
        header = self._render(self._label(parts, len(whole)))
        while header.tokens > self.limit and len(parts) > 1:
            parts = parts[1:]
            header = self._render(self._label(parts, len(whole)))
        words = parts[0].split()
        while header.tokens > self.limit and len(words) > 1:
            words = words[: max(1, len(words) * 3 // 4)]
            header = self._render(" ".join(words) + ELLIPSIS)
        word = words[0] if words else ""
        while header.tokens > self.limit and len(word) > 1:
            end = cluster_edge(word, 0, len(word) * 3 // 4, len(word))
            if end == len(word):
                break
            word = word[:end]
            header = self._render(word + ELLIPSIS)
        if header.tokens > self.limit:
            header = self._render(ELLIPSIS)
        return header

    def _label(self, parts: list[str], of: int) -> str:
        return PATH_SEPARATOR.join(parts if len(parts) == of else [ELLIPSIS, *parts])

    def _at_sight(self, parts: list[str]) -> list[str]:
        """The parts that could fit by their length: what is far too long is not counted first,
        and not again below every heading.
        """
        most = self.limit * _LONGEST_TOKEN
        while len(parts) > 1 and sum(map(len, parts)) > most:
            parts = parts[1:]
        if len(parts[0]) > most:
            name = parts[0][: cluster_edge(parts[0], 0, most, len(parts[0]))]
            return [name.rstrip() + ELLIPSIS, *parts[1:]]
        return parts
