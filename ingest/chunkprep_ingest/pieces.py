"""A document as a row of pieces: the smallest runs that are counted, and the gaps between them.

Pieces tile the text from the first element to the last: a piece reaches from its start to the
next one's, line breaks behind it included, so that every character is given to the tokenizer
once. Sentences, table rows and list items are pieces; finer ones are made only where these might
not fit a block by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chunkprep_ingest import gaps
from chunkprep_ingest.counting import follows_line
from chunkprep_ingest.finecuts import is_edge, word_cuts
from chunkprep_ingest.headings import heading_name
from chunkprep_ingest.model import BoundaryKind, Element
from chunkprep_ingest.records import Rendered
from chunkprep_ingest.sentences import sentence_ends

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n]*\n")
_SEPARATOR_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*$")
_HEADING_LENGTH = 80  # characters of a line that may be a heading in plain text
_LAST_ASCII = "\x7f"
_LINE_ENDS = frozenset(".!?,;\u3002\uff01\uff1f") | {""}
_FINE_PARTS = 3  # a block that is filled with fine pieces gets at least this many


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading (or before the first): its path and its first piece."""

    path: tuple[str, ...]
    first_piece: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """Parallel sequences, one entry a piece; `end` is where the last piece ends.

    `strength[k]` and `kind[k]` are of the gap before piece k (kind None: no boundary there).
    `lead[k]` is repeated in front of a chunk that starts at piece k (a table's header, a code
    fence), `trail[k]` closes a chunk that ends before piece k.
    """

    text: str
    elements: tuple[Element, ...]
    start: Sequence[int]
    strength: list[int]
    kind: Sequence[BoundaryKind | None]
    element: Sequence[int]
    end: int
    sections: list[Section]
    section_of: list[int]
    """The section of each element."""
    lead: dict[int, str]
    trail: dict[int, str]

    def __len__(self) -> int:
        return len(self.start)

    def section(self, piece: int) -> Section:
        """The section that a piece stands in."""
        return self.sections[self.section_of[self.element[piece]]]


def make_pieces(
    rendered: Rendered,
    room: int,
    running: Sequence[int],
    *,
    repeat_header: bool = True,
    reopen_fences: bool = True,
) -> Pieces:
    """The pieces of a document for blocks that leave at least `room` tokens to the text.

    `running` is the rendered text's running count (`RunningCounter.running`). The parts of a
    table repeat its header and those of a code block its fences unless told otherwise.
    """
    return _Builder(rendered, room, running, repeat_header, reopen_fences).build()


class _Builder:
    """Walks the elements once and appends their pieces."""

    def __init__(
        self,
        rendered: Rendered,
        room: int,
        running: Sequence[int],
        repeat_header: bool,
        reopen_fences: bool,
    ) -> None:
        self.repeat_header = repeat_header
        self.reopen_fences = reopen_fences
        self.text = text = rendered.text
        self.elements = rendered.elements
        self.records = {start for start, _ in rendered.records}
        self.heads = rendered.heads
        self.labels = dict(rendered.additions)
        self.room = room
        self.running = running
        self.rows: list[tuple[int, int, BoundaryKind | None, int]] = []
        self.sections = [Section((), 0)]
        self.section_of: list[int] = []
        self.lead: dict[int, str] = {}
        self.trail: dict[int, str] = {}
        self.ascii = text.isascii()
        self.fine = max(1, min(160, room // _FINE_PARTS))
        self.ends = [*sentence_ends(text), len(text) + 1]
        self.next_end = 0
        self.path: list[tuple[int, str]] = []

    def build(self) -> Pieces:
        text, rows, elements = self.text, self.rows, self.elements
        running, room = self.running, self.room
        section_of, ends = self.section_of, self.ends
        before: Element | None = None
        held = 0  # where a piece starts that may still take the next element in
        for index, element in enumerate(elements):
            kind, start, end, depth, _ = element
            gap: gaps.Gap = gaps.TOP_HEADING, None
            if before is not None:
                colon = text[before.end - 1] == ":"
                level = depth if depth < gaps.MAX_DEPTH else gaps.MAX_DEPTH
                gap = gaps.BETWEEN[before.kind, kind, level, colon]
            if kind == "title":
                self._open_section(element)
            section_of.append(len(self.sections) - 1)
            before = element
            cost = running[end] - running[held]
            if start in self.heads:
                gap = gaps.JOINED, None
            joined = gap[0] == gaps.JOINED and kind != "title" and start not in self.heads
            if not joined or cost > room:
                held = start
                rows.append((start, gap[0], gap[1], index))
            if start in self.records:
                self._record(index, element)
            elif kind == "table":
                self._table(index, element)
            elif kind == "code":
                self._code(index, element)
            else:
                at = self.next_end
                while ends[at] <= start:
                    at += 1
                self.next_end = at
                if ends[at] < end or running[end] - running[start] > room:
                    self._prose(index, element)
        begins, strengths, kinds, of = zip(*rows, strict=True)
        return Pieces(
            text=text,
            elements=self.elements,
            start=begins,
            strength=list(strengths),
            kind=kinds,
            element=of,
            end=self.elements[-1].end,
            sections=self.sections,
            section_of=self.section_of,
            lead=self.lead,
            trail=self.trail,
        )

    def _open_section(self, title: Element) -> None:
        while self.path and self.path[-1][0] >= title.depth:
            self.path.pop()
        self.path.append((title.depth, heading_name(self.text[title.start : title.end])))
        path = tuple(name for _, name in self.path if name)
        self.sections.append(Section(path, len(self.rows)))

    def _fits(self, start: int, end: int) -> bool:
        """Whether a run fits the smallest block."""
        return self.running[end] - self.running[start] <= self.room

    def _prose(self, index: int, element: Element) -> None:
        """Sentences, and fine pieces of those that do not fit."""
        start, end = element.start, element.end
        long = not self._fits(start, end)
        ends, at = self.ends, self.next_end
        text, rows = self.text, self.rows
        running, room = self.running, self.room
        while (cut := ends[at]) < end:
            at += 1
            strength = gaps.SENTENCE
            if text[cut] != " " or not " " < text[cut + 1] < _LAST_ASCII:
                cut, strength = self._sentence_gap(cut, end)
                if cut < 0:
                    continue
            if long and running[cut] - running[start] > room:
                self._fine(index, start, cut)
            rows.append((cut, strength, "sentence", index))
            start = cut
        if long:
            self._fine(index, start, end)

    def _sentence_gap(self, cut: int, end: int) -> tuple[int, int]:
        """Where exactly to part behind a sentence that ends at `cut`, and how strong that gap is;
        -1 where it would tear a grapheme cluster.
        """
        text = self.text
        behind = cut
        while behind < end and text[behind].isspace():
            behind += 1
        line = text.rfind("\n", cut, behind)
        if line < 0:
            return (cut if is_edge(text, cut) else -1), gaps.SENTENCE
        heading = self._is_heading_like(line + 1, end)
        return line + 1, gaps.HEADING_LIKE_LINE if heading else gaps.SENTENCE_AT_LINE_END

    def _is_heading_like(self, start: int, end: int) -> bool:
        """Whether the line at `start` is short, stands before another, and ends no sentence."""
        stop = self.text.find("\n", start, min(end, start + _HEADING_LENGTH))
        return stop > 0 and self.text[start:stop].rstrip()[-1:] not in _LINE_ENDS

    def _fine(self, index: int, start: int, end: int) -> None:
        """Fine pieces of a run, if it does not fit a block."""
        if not self._fits(start, end):
            cuts = word_cuts(self.text, start, end, self.fine, self.room, self.running)
            for cut, strength in cuts:
                self.rows.append((cut, strength, None, index))

    def _table(self, index: int, table: Element) -> None:
        """Rows; the header, its separator and the first row stay together."""
        lines = self._lines(table)
        header = 2 if len(lines) > 2 and self._is_separator(lines[1], lines[2]) else 0
        header_text = self.text[table.start : lines[header]] if header else ""
        for row, start in enumerate(lines):
            end = lines[row + 1] if row + 1 < len(lines) else table.end
            if row > header:
                if header_text and self.repeat_header:
                    self.lead[len(self.rows)] = header_text
                self.rows.append((start, gaps.TABLE_ROW, "table_row", index))
            elif row:
                self.rows.append((start, gaps.JOINED, None, index))
            if not self._fits(start, end):
                self._row(index, start, end)

    def _record(self, index: int, record: Element) -> None:
        """Lines "column: value"; a part of a record repeats the first line, and the name of the
        column that it goes on with.
        """
        lines = [*self._lines(record), record.end]
        key = self.text[lines[0] : lines[1]].rstrip("\n") + "\n"
        if not follows_line(key, 0) or len(key) > self.room // _FINE_PARTS:
            key = ""
        for line, (start, end) in enumerate(pairwise(lines)):
            if line:
                if key:
                    self.lead[len(self.rows)] = key
                self.rows.append((start, gaps.CELL, None, index))
            if not self._fits(start, end):
                first, value = len(self.rows), start + self.labels[start]
                self._fine(index, value, end)
                name = self.text[start : value - 1] + "\n"
                lead = (key if line else "") + name
                if follows_line(lead, 0):
                    self.lead.update(dict.fromkeys(range(first, len(self.rows)), lead))

    def _is_separator(self, start: int, end: int) -> bool:
        return bool(_SEPARATOR_ROW.match(self.text[start:end].rstrip("\n")))

    def _row(self, index: int, start: int, end: int) -> None:
        """A row that does not fit: its cells, then fine pieces."""
        at = seek = start
        while (bar := self.text.find(" | ", max(seek, at + self.fine), end)) > 0:
            seek = bar + 1
            cut = at + len(self.text[at:bar].rstrip(" "))  # before the cell's padding
            if cut <= at or not (self.ascii or is_edge(self.text, cut)):
                continue
            self._fine(index, at, cut)
            self.rows.append((cut, gaps.CELL, None, index))
            at = cut
        self._fine(index, at, end)

    def _code(self, index: int, code: Element) -> None:
        """Lines, in groups, where the code does not fit; fences are closed and opened again."""
        if self._fits(code.start, code.end):
            return
        lines = self._lines(code)
        opening = _FENCE.match(self.text, code.start, code.end)
        inner, closing = self._inner_lines(lines, code.end, opening)
        at = code.start
        for start in inner:
            strength = self._line_strength(start)
            if start == inner[0] and opening:
                strength = gaps.JOINED
            elif start - at < self.fine and strength == gaps.CODE_LINE:
                continue
            self._code_gap(index, at, start, strength, opening)
            at = start
        if closing is not None:
            self._code_gap(index, at, closing, gaps.JOINED, None)
        else:
            self._fine(index, at, code.end)

    def _inner_lines(
        self, lines: list[int], end: int, opening: re.Match[str] | None
    ) -> tuple[list[int], int | None]:
        """The lines of code behind the first line, and the closing fence's where there is one."""
        if opening and len(lines) > 2 and self.text[lines[-1] : end].strip() == opening[1]:
            return lines[1:-1], lines[-1]
        return lines[1:], None

    def _code_gap(
        self, index: int, at: int, start: int, strength: int, opening: re.Match[str] | None
    ) -> None:
        self._fine(index, at, start)
        if opening and self.reopen_fences and strength != gaps.JOINED:
            self.lead[len(self.rows)] = opening[0]
            self.trail[len(self.rows)] = "\n" + opening[1]
        self.rows.append((start, strength, None, index))

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
