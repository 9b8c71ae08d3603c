"""Tables as Markdown: one line a row, header first, merged cells repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_COLUMNS = 16_384
"""As wide as a spreadsheet gets; a span that claims more is not believed."""
MAX_GRID = 2_000_000
"""Cells that merged ones may be repeated into; past that, spans are ignored."""


class Cell(NamedTuple):
    """A table cell and how many columns and rows it spans."""

    text: str
    columns: int = 1
    rows: int = 1


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a Markdown table whose header is the first row; empty where all cells are.

    Blank rows and columns are left out, short rows filled, line breaks in cells become spaces
    and pipes are escaped.
    """
    lines = [[cell_text(text) for text in row] for row in rows]
    lines = [line for line in lines if any(line)]
    if not lines:
        return ""
    width = max(map(len, lines))
    for line in lines:
        line.extend([""] * (width - len(line)))
    used = [any(column) for column in zip(*lines, strict=True)]
    if not all(used):
        lines = [[t for t, keep in zip(line, used, strict=True) if keep] for line in lines]
    header, *body = lines
    rule = "|" + " --- |" * len(header)
    return "\n".join([_line(header), rule, *map(_line, body)])


def cell_text(text: str) -> str:
    """`text` on one line, with its pipes escaped."""
    line = " ".join(text.split())
    return line.replace("|", "\\|") if "|" in line else line


def spread(rows: Iterable[Sequence[Cell]]) -> list[list[str]]:
    """The grid that the rows describe, every merged cell's text in each place it covers."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}  # column -> rows left, text
    cells = 0
    for row in rows:
        line: list[str] = []
        for cell in row:
            _carry(below, line)
            columns = max(1, cell.columns) if cell.columns <= MAX_COLUMNS else 1
            cells += columns
            if cells > MAX_GRID:
                columns = 1
            for _ in range(columns):
                if cell.rows > 1:
                    below[len(line)] = (cell.rows - 1, cell.text)
                line.append(cell.text)
        _carry(below, line)
        grid.append(line)
    return grid


def _carry(below: dict[int, tuple[int, str]], line: list[str]) -> None:
    """Fill in what reaches down from rows above, from the end of `line` on."""
    while (reach := below.get(len(line))) is not None:
        left, text = reach
        if left == 1:
            del below[len(line)]
        else:
            below[len(line)] = (left - 1, text)
        line.append(text)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
