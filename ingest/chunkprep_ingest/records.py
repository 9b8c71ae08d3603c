"""Tables too wide for a block, rendered as records: one line a cell, "column: value".

A row that does not fit a block beside its header would be torn between words, and only its first
part would say which column it is in. So it is written as a record; rows that fit stay rows, below
the header again. What is written besides the document's own text (column names, the header again)
is recorded as additions. White space and the pipes between cells go: rendered text and document
are the same but for these.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from chunkprep_ingest.finecuts import cluster_edge, is_edge
from chunkprep_ingest.model import Element, Span

_SEPARATOR_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*$")
_BAR = re.compile(r"(?<!\\)\|")
_HEAD = 2  # lines: the header and its separator
_LEAST_ROOM = 24  # tokens: in less, a name and its value would not stand together
_LONGEST_NAME = 60  # characters of a column's name that a record shows
_SHORTEST_NAME = 4
_FEWEST_ROWS = 3  # fewer rows between records are records too: the header would cost more


class Copied(NamedTuple):
    """Rendered text from `rendered` on that is the document's from `start` on; behind it, the
    document goes on at `end`.
    """

    rendered: int
    length: int
    start: int
    end: int


class Rendered(NamedTuple):
    """A document's text with records in it. `records` are their spans, `heads` the starts of
    records that stand directly below their table's header. Empty `copied` means: as it was.
    """

    text: str
    elements: tuple[Element, ...]
    additions: tuple[Span, ...] = ()
    copied: tuple[Copied, ...] = ()
    records: tuple[tuple[int, int], ...] = ()
    heads: frozenset[int] = frozenset()

    def in_document(self, start: int, end: int) -> tuple[int, int]:
        """The document's offsets of the rendered text[start:end]."""
        if not self.copied:
            return start, end
        first = bisect_right(self.copied, start, key=_rendered) - 1
        last = bisect_left(self.copied, end, key=_rendered) - 1
        return self._place(start, first), self._place(end, last)

    def _place(self, at: int, run: int) -> int:
        rendered, length, start, end = self.copied[max(run, 0)]
        if at - rendered < length:
            return start + at - rendered
        added = bisect_left(self.additions, at, key=_rendered) - 1
        if added >= 0 and at <= sum(self.additions[added]):  # inside a column's name
            return self.copied[run + 1].start
        return end

    def has_record(self, start: int, end: int) -> bool:
        """Whether a record, or a part of one, lies in the rendered text[start:end]."""
        run = bisect_left(self.records, end, key=_rendered) - 1
        return run >= 0 and self.records[run][1] > start

    def added(self, start: int, end: int) -> Iterator[Span]:
        """The additions in the rendered text[start:end], at offsets from `start`."""
        first = bisect_right(self.additions, start, key=_rendered) - 1
        for at, length in self.additions[max(0, first) :]:
            if at >= end:
                return
            low, high = max(at, start), min(at + length, end)
            if low < high:
                yield Span(low - start, high - low)


def _rendered(entry: tuple[int, ...]) -> int:
    return entry[0]


def render_records(
    text: str,
    elements: tuple[Element, ...],
    room: int,
    limit: int,
    running: Sequence[int],
    *,
    repeat_header: bool,
) -> Rendered:
    """The document with rows that do not fit `room` tokens, beside a header of at most `limit`
    where it is repeated, as records. `running` is the text's running count
    (`RunningCounter.running`).
    """
    tables: dict[Element, _Table] = {}
    if room >= _LEAST_ROOM:
        for element in elements:
            if element.kind == "table" and running[element.end] - running[element.start] > room:
                table = _table(text, element, room, limit, running, repeat_header)
                if table is not None:
                    tables[element] = table
    if not tables:
        return Rendered(text, elements)
    writer = _Writer(text)
    for element in elements:
        if element in tables:
            writer.table(element, tables[element])
        else:
            writer.keep(element)
    return writer.rendered()


class _Row(NamedTuple):
    """A line of a table."""

    start: int
    end: int
    wide: bool


class _Table(NamedTuple):
    """A table with rows that do not fit: `header` is the text to repeat, empty where too long."""

    names: list[str]
    header: str
    rows: list[_Row]


def _table(
    text: str,
    element: Element,
    room: int,
    limit: int,
    running: Sequence[int],
    repeat_header: bool,
) -> _Table | None:
    """The table's rows below its separator, where one does not fit."""
    start = element.start
    lines = text[start : element.end].split("\n")
    if len(lines) < _HEAD + 1 or not _SEPARATOR_ROW.match(lines[1]):
        return None
    starts = [start]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    ends = [start + len(line) for start, line in zip(starts, lines, strict=False)]
    header = text[start : starts[_HEAD]]
    tokens = running[starts[_HEAD]] - running[start]
    if tokens > limit or not repeat_header:
        header, tokens = "", 0
    rows = [
        _Row(a, b, running[b] - running[a] > room - tokens)
        for a, b in zip(starts[_HEAD:], ends[_HEAD:], strict=False)
    ]
    if not any(row.wide for row in rows) or not all(map(str.strip, lines)):
        return None
    cells = _cells(text, start, ends[0])
    return _Table([_name(text, a, b, max(1, limit // 2), running) for a, b in cells], header, rows)


def _name(text: str, start: int, end: int, most: int, running: Sequence[int]) -> str:
    """A column's name in about so many tokens at most, or its first few characters."""
    stop = min(end, start + _LONGEST_NAME)
    while stop - start > _SHORTEST_NAME and running[stop] - running[start] > most:
        stop = start + (stop - start) * 3 // 4
    name = " ".join(text[start : cluster_edge(text, start, stop, end)].split())
    return name if stop == end else name + "\u2026"


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the cells of a row start and end, blanks around them left out."""
    while start < end and text[start].isspace():
        start += 1
    at = start + 1 if text[start : start + 1] == "|" else start
    for bar in [*_BAR.finditer(text, at, end), None]:
        stop = bar.start() if bar else end
        cell = text[at:stop]
        first = at + len(cell) - len(cell.lstrip())
        last = first + len(cell.strip())
        if first < last and not is_edge(text, first):
            first -= 1  # a mark that joins the blank or pipe before it
        if bar or first < last:
            yield first, last
        at = stop + 1


class _Writer:
    """Writes the rendered text from left to right and keeps account of where it comes from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[str] = []
        self.length = 0
        self.at = 0
        """Up to where the document is written, or left out."""
        self.elements: list[Element] = []
        self.additions: list[Span] = []
        self.copied: list[Copied] = []
        self.records: list[tuple[int, int]] = []
        self.heads: set[int] = set()

    def rendered(self) -> Rendered:
        self._copy(self.at, len(self.text))
        return Rendered(
            "".join(self.parts),
            tuple(self.elements),
            tuple(self.additions),
            tuple(self.copied),
            tuple(self.records),
            frozenset(self.heads),
        )

    def keep(self, element: Element) -> None:
        shift = self.length - self.at
        self.elements.append(element._replace(start=element.start + shift, end=element.end + shift))

    def table(self, element: Element, table: _Table) -> None:
        rows = table.rows
        groups = _groups(rows)
        lead = groups[0][1] if not groups[0][0] else 0
        top = rows[lead - 1].end if lead else rows[0].start - 1
        self.keep(element._replace(end=top))
        self._copy(self.at, top)
        done = lead
        for wide, stop in groups:
            if stop <= lead:
                continue
            if wide:
                for row in rows[done:stop]:
                    self._record(element, table.names, row, first=row is rows[0])
            else:
                self._resume(element, table.header, rows[done:stop])
            done = stop
        self.at = element.end

    def _record(self, element: Element, names: list[str], row: _Row, *, first: bool) -> None:
        cells = [
            (names[n] if n < len(names) and names[n] else f"column {n + 1}", a, b)
            for n, (a, b) in enumerate(_cells(self.text, row.start, row.end))
            if a < b
        ]
        if not cells:  # nothing but pipes, which go with what stands before them
            self.copied[-1] = self.copied[-1]._replace(end=row.end)
            return
        self._write("\n\n")
        start = self.length
        if first:
            self.heads.add(start)
        for name, a, b in cells:
            if self.length > start:
                self._write("\n")
            self._add(f"{name}: ")
            last = b == cells[-1][2]
            self._copy(a, b, row.end if last else b)
        self.records.append((start, self.length))
        self.elements.append(element._replace(start=start, end=self.length))

    def _resume(self, element: Element, header: str, rows: Sequence[_Row]) -> None:
        """Rows below the header again, which is recorded as an addition."""
        self._write("\n\n")
        start = self.length
        if header:
            self.copied.append(Copied(start, 0, rows[0].start, rows[0].start))
            self._add(header)
        self.at = rows[0].start
        self._copy(rows[0].start, rows[-1].end)
        self.elements.append(element._replace(start=start, end=self.length))

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def _add(self, text: str) -> None:
        self.additions.append(Span(self.length, len(text)))
        self._write(text)

    def _copy(self, start: int, end: int, behind: int | None = None) -> None:
        if start < end:
            self.copied.append(Copied(self.length, end - start, start, behind or end))
            self._write(self.text[start:end])
        self.at = behind or end


def _groups(rows: Sequence[_Row]) -> list[tuple[bool, int]]:
    """Runs of rows as (whether they are records, where the run ends)."""
    runs: list[tuple[bool, int]] = []
    for wide, run in groupby(rows, key=lambda row: row.wide):
        done = runs[-1][1] if runs else 0
        size = sum(1 for _ in run)
        runs.append((wide or (done > 0 and size < _FEWEST_ROWS), done + size))
    return runs
