"""One HTML table in the making: a table of data, or a frame that only lays out blocks."""

from __future__ import annotations

from collections.abc import Iterator

from chunkprep_ingest.readers.tables import Cell, markdown_table, spread
from chunkprep_ingest.readers.writing import Found

_STRUCTURE = frozenset({"title", "table"})


class _OpenCell:
    """A cell that text is still added to."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.blocks: list[Found] = []

    def cell(self) -> Cell:
        text = " ".join(_flat(found) for found in self.blocks)
        return Cell(text, max(1, self.columns), max(1, self.rows))


class TableFrame:
    """Collects rows and cells. What stands between cells (captions) comes first."""

    def __init__(self, *, layout: bool) -> None:
        self._layout = layout
        self._rows: list[list[_OpenCell]] = []
        self._cell: _OpenCell | None = None
        self._outside: list[Found] = []

    def open_row(self) -> None:
        """A new row starts."""
        self._cell = None
        self._rows.append([])

    def open_cell(self, columns: int, rows: int) -> None:
        """A new cell starts, spanning so many columns and rows."""
        if not self._rows:
            self._rows.append([])
        self._cell = _OpenCell(columns, rows)
        self._rows[-1].append(self._cell)

    def close_cell(self) -> None:
        """The open cell ends."""
        self._cell = None

    def emit(self, found: Found) -> None:
        """Take a block that stands inside this table."""
        (self._outside if self._cell is None else self._cell.blocks).append(found)

    def blocks(self) -> Iterator[Found]:
        """The table as one element; or its cells' blocks in order, where it is layout only."""
        yield from self._outside
        if self._is_layout():
            for row in self._rows:
                for cell in row:
                    yield from cell.blocks
        else:
            yield Found("table", markdown_table(spread(self._cells())))

    def _cells(self) -> list[list[Cell]]:
        return [[open_cell.cell() for open_cell in row] for row in self._rows]

    def _is_layout(self) -> bool:
        if self._layout or sum(map(len, self._rows)) == 1:
            return True
        return any(
            found.kind in _STRUCTURE for row in self._rows for cell in row for found in cell.blocks
        )


def _flat(found: Found) -> str:
    """A block as it stands inside a cell."""
    if found.kind == "list_item":
        return f"{found.marker} {found.text}"
    return found.text
