"""Tables as Markdown: one line a row, header first, merged cells repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MAX_COLUMNS = 1_000
"""The widest span that browsers draw (HTML Standard); one that claims more is not believed."""
MAX_REPEATED = 2_000_000
"""Characters that merged cells may add by being repeated; past that, spans are ignored."""


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


def spread(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The grid that the rows describe, every merged cell's text in each place it covers."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}  # column -> rows left, text
    room = MAX_REPEATED
    for at, row in enumerate(rows):
        line: list[str] = []
        for cell in row:
            _carry(below, line)
            columns = cell.columns if 1 <= cell.columns <= MAX_COLUMNS else 1
            down = max(1, min(cell.rows, len(rows) - at))
            cost = (columns * down - 1) * (len(cell.text) + 1)
            if cost > room:
                columns = down = 1
            else:
                room -= cost
            for _ in range(columns):
                if down > 1:
                    below[len(line)] = (down - 1, cell.text)
                line.append(cell.text)
        _carry(below, line)
        grid.append(line)
    return grid


def _carry(below: dict[int, tuple[int, str]], line: list[str]) -> None:
    """Fill in what reaches down from rows above, from the end of `line` on."""
    while (reach := below.pop(len(line), None)) is not None:
        rows, text = reach
        if rows > 1:
            below[len(line)] = (rows - 1, text)
        line.append(text)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
