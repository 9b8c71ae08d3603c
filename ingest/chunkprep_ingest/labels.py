"""What a header says: title and heading path, shortened from the root where it grows too long, and
date and page where the policy shows them.
"""

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

    A header costs at most `limit` tokens, or what the shortest one costs. `date` stands in each;
    the page only with `pages`.
    """

    def __init__(
        self,
        template: Template,
        counter: Counter,
        title: str,
        limit: int,
        date: str | None = None,
        *,
        pages: bool = False,
    ) -> None:
        self.template = template
        self.counter = counter
        self.title = title
        self.limit = limit
        self.date = date
        self.pages = pages
        self._known: dict[tuple[tuple[str, ...], int | None], Header] = {}

    def of(self, path: tuple[str, ...], page: int | None) -> Header:
        """The header of a chunk whose heading path is `path` and which starts on `page`."""
        key = path, page if self.pages else None
        header = self._known.get(key)
        if header is None:
            header = self._known[key] = self._shortened(self._parts(path), self._note(key[1]))
        return header

    def _note(self, page: int | None) -> str:
        """What stands behind the path, in brackets."""
        shown = [self.date] if self.date else []
        if page is not None:
            shown.append(f"page {page}")
        return f" ({', '.join(shown)})" if shown else ""

    def _parts(self, path: tuple[str, ...]) -> list[str]:
        """Title, then path; a top heading that repeats the title is left out."""
        if path and path[0] == self.title:
            return list(path)
        return [self.title, *path]

    def _render(self, label: str) -> Header:
        text = self.template.header(clean_label(self.template, label))
        return Header(text, self.counter.count(text))

    def _shortened(self, parts: list[str], note: str) -> Header:
        """Parts go from the root, then words, then grapheme clusters of the last part's end; the
        note goes only where nothing else is left to go.
        """
        whole = parts
        parts = self._at_sight(parts)
        header = self._render(self._label(parts, len(whole)) + note)
        while header.tokens > self.limit and len(parts) > 1:
            parts = parts[1:]
            header = self._render(self._label(parts, len(whole)) + note)
        if header.tokens <= self.limit:
            return header
        words = parts[0].split()
        while header.tokens > self.limit and len(words) > 1:
            words = words[: max(1, len(words) * 3 // 4)]
            header = self._render(" ".join(words) + ELLIPSIS + note)
        word = words[0] if words else ""
        while header.tokens > self.limit and len(word) > 1:
            end = cluster_edge(word, 0, len(word) * 3 // 4, len(word))
            if end == len(word):
                break
            word = word[:end]
            header = self._render(word + ELLIPSIS + note)
        if header.tokens > self.limit and note:
            return self._shortened(whole, "")
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
