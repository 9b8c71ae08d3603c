"""A document as a row of pieces: the smallest runs that are counted, and the gaps between them.

Pieces tile the text from the first element to the last: a piece reaches from its start to the
next one's, line breaks behind it included, so that every character is given to the tokenizer
once. Sentences, table rows and list items are pieces; finer ones are made only where these might
not fit a block by themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from chunkprep_ingest import gaps
from chunkprep_ingest.finecuts import is_edge, word_cuts
from chunkprep_ingest.headings import heading_name
from chunkprep_ingest.model import BoundaryKind, Element
from chunkprep_ingest.sentences import sentence_ends

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n]*\n")
_SEPARATOR_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*$")
_FINE_PARTS = 4  # a block that must be filled with fine pieces gets at least this many


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading (or before the first): its path and its first piece."""

    path: tuple[str, ...]
    first_piece: int


@dataclass(slots=True)
class Pieces:
    """Parallel lists, one entry a piece; `end` is where the last piece ends.

    `strength[k]` and `kind[k]` are of the gap before piece k (kind None: no boundary there).
    `lead[k]` is repeated in front of a chunk that starts at piece k (a table's header, a code
    fence), `trail[k]` closes a chunk that ends before piece k.
    """

    text: str
    elements: tuple[Element, ...]
    start: list[int] = field(default_factory=list)
    strength: list[int] = field(default_factory=list)
    kind: list[BoundaryKind | None] = field(default_factory=list)
    element: list[int] = field(default_factory=list)
    section: list[int] = field(default_factory=list)
    sections: list[Section] = field(default_factory=lambda: [Section((), 0)])
    lead: dict[int, str] = field(default_factory=dict)
    trail: dict[int, str] = field(default_factory=dict)
    end: int = 0

    def __len__(self) -> int:
        return len(self.start)

    def add(self, start: int, strength: int, kind: BoundaryKind | None, element: int) -> None:
        """One more piece behind the last."""
        self.start.append(start)
        self.strength.append(strength)
        self.kind.append(kind)
        self.element.append(element)
        self.section.append(len(self.sections) - 1)


def make_pieces(
    text: str, elements: tuple[Element, ...], room: int, fits: Callable[[str], bool]
) -> Pieces:
    """The pieces of a document for blocks that leave about `room` tokens to the text.

    `fits` tells whether a text costs at most what the smallest block leaves.
    """
    return _Builder(text, elements, room, fits).build()


class _Builder:
    """Walks the elements once and appends their pieces."""

    def __init__(
        self,
        text: str,
        elements: tuple[Element, ...],
        room: int,
        fits: Callable[[str], bool],
    ) -> None:
        self.text = text
        self.fits = fits
        self.pieces = Pieces(text, elements)
        # A token is at least one byte: a text of `room` ASCII characters always fits.
        self.ascii = text.isascii()
        self.surely_fits = room if self.ascii else max(1, room // 2)
        self.fine = max(1, min(128, room // (_FINE_PARTS * 2)))
        self.ends = sentence_ends(text)
        self.path: list[tuple[int, str]] = []

    def build(self) -> Pieces:
        pieces = self.pieces
        before: Element | None = None
        for index, element in enumerate(pieces.elements):
            strength, kind = gaps.TOP_HEADING, None
            if before is not None:
                colon = self.text[before.end - 1] == ":"
                strength = gaps.between(before, element, colon)
                kind = gaps.boundary_kind(before, element)
            if element.kind == "title":
                self._open_section(element)
            pieces.add(element.start, strength, kind, index)
            if element.kind == "table":
                self._table(index, element)
            elif element.kind == "code":
                self._code(index, element)
            else:
                self._prose(index, element)
            before = element
        pieces.end = pieces.elements[-1].end if pieces.elements else 0
        return pieces

    def _open_section(self, title: Element) -> None:
        while self.path and self.path[-1][0] >= title.depth:
            self.path.pop()
        self.path.append((title.depth, heading_name(self.text[title.start : title.end])))
        path = tuple(name for _, name in self.path if name)
        self.pieces.sections.append(Section(path, len(self.pieces)))

    def _prose(self, index: int, element: Element) -> None:
        """Sentences, and fine pieces of those that may not fit."""
        start, end = element.start, element.end
        long = end - start > self.surely_fits
        ends = self.ends
        at = bisect_left(ends, start + 1)
        if at == len(ends) or ends[at] >= end:
            if long:
                self._fine(index, start, end)
            return
        text, pieces = self.text, self.pieces
        while at < len(ends) and ends[at] < end:
            cut = ends[at]
            at += 1
            strength = gaps.SENTENCE
            if text[cut] != " ":
                behind = cut
                while behind < end and text[behind].isspace():
                    behind += 1
                line = text.rfind("\n", cut, behind)
                if line >= 0:
                    cut, strength = line + 1, gaps.SENTENCE_AT_LINE_END
            if long and cut - start > self.surely_fits:
                self._fine(index, start, cut)
            if self.ascii or is_edge(text, cut):
                pieces.add(cut, strength, "sentence", index)
            start = cut
        if long and end - start > self.surely_fits:
            self._fine(index, start, end)

    def _fine(self, index: int, start: int, end: int) -> None:
        for cut, strength in word_cuts(self.text, start, end, self.fine, self.fits):
            self.pieces.add(cut, strength, None, index)

    def _table(self, index: int, table: Element) -> None:
        """Rows; the header, its separator and the first row stay together."""
        lines = self._lines(table)
        header = 2 if len(lines) > 2 and self._is_separator(lines[1], lines[2]) else 0
        header_text = self.text[table.start : lines[header]] if header else ""
        for row, start in enumerate(lines):
            end = lines[row + 1] if row + 1 < len(lines) else table.end
            if row > header:
                if header_text:
                    self.pieces.lead[len(self.pieces)] = header_text
                self.pieces.add(start, gaps.TABLE_ROW, "table_row", index)
            elif row:
                self.pieces.add(start, gaps.JOINED, None, index)
            if end - start > self.surely_fits:
                self._row(index, start, end)

    def _is_separator(self, start: int, end: int) -> bool:
        return bool(_SEPARATOR_ROW.match(self.text[start:end].rstrip("\n")))

    def _row(self, index: int, start: int, end: int) -> None:
        """A row that may not fit: its cells, then fine pieces."""
        at = start
        while (cut := self.text.find(" | ", at + self.fine, end)) > 0:
            if cut - at > self.surely_fits:
                self._fine(index, at, cut)
            if self.ascii or is_edge(self.text, cut):
                self.pieces.add(cut, gaps.CELL, None, index)
            at = cut
        if end - at > self.surely_fits:
            self._fine(index, at, end)

    def _code(self, index: int, code: Element) -> None:
        """Lines, in groups, where the code may not fit; fences are closed and opened again."""
        if code.end - code.start <= self.surely_fits:
            return
        lines = self._lines(code)
        opening = _FENCE.match(self.text, code.start, code.end)
        first = 1 if opening else 0
        last_line = self.text[lines[-1] : code.end].strip()
        closed = bool(opening) and last_line.startswith(opening[1]) if opening else False
        last = len(lines) - 1 if closed else len(lines)
        at = code.start
        for row in range(first, len(lines)):
            start = lines[row]
            if row in (first, last):
                if row and row != len(lines):
                    self._code_gap(index, at, start, gaps.JOINED, None)
                    at = start
                continue
            strength = self._line_strength(start)
            if start - at < self.fine and strength == gaps.CODE_LINE:
                continue
            self._code_gap(index, at, start, strength, opening)
            at = start
        if code.end - at > self.surely_fits:
            self._fine(index, at, code.end)

    def _code_gap(
        self, index: int, at: int, start: int, strength: int, opening: re.Match[str] | None
    ) -> None:
        if start - at > self.surely_fits:
            self._fine(index, at, start)
        if opening:
            self.pieces.lead[len(self.pieces)] = opening[0]
            self.pieces.trail[len(self.pieces)] = "\n" + opening[1]
        self.pieces.add(start, strength, None, index)

    def _line_strength(self, start: int) -> int:
        text = self.text
        if text[start - 2 : start] == "\n\n":
            return gaps.BLANK_CODE_LINE
        return gaps.CODE_LINE if text[start] in " \t})]" else gaps.OUTER_CODE_LINE

    def _lines(self, element: Element) -> list[int]:
        """Offsets of the element's lines that are not blank."""
        text, end = self.text, element.end
        starts = [element.start]
        at = text.find("\n", element.start, end)
        while at >= 0:
            start = at + 1
            at = text.find("\n", start, end)
            if text[start : at if at >= 0 else end].strip():
                starts.append(start)
        return starts
