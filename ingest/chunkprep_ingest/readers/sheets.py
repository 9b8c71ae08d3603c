"""Spreadsheets: cells as they show, sheet by sheet, as tables and the lines around them.

unstructured reads them through pandas, which rounds numbers to six digits, turns TRUE into 1.0 and
text such as "007" into numbers, and tears rows with one cell out of their table. So it is handed
a workbook in which every cell is guarded text, merged cells are repeated and dates are ISO 8601,
and rows are grouped here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from lxml import etree

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import unstructured_route as route
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import Package, open_package
from chunkprep_ingest.readers.tables import markdown_table
from chunkprep_ingest.readers.writing import Found, TextWriter

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_RULES = "2"
_MAIN = "xl/workbook.xml"
_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_GUARD = "\ue000"  # private use: makes every cell text that pandas leaves alone
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MOST_COVERED = 50_000  # cells that merged ones may cover; past that they show once
_SHOWN = 32_700  # characters; a cell holds at most 32,767
_REMEMBERED = re.compile(rb"<f[ >/]")

Rows = list[list[str]]


def fingerprint() -> str:
    """Moves with our rules and with unstructured's version."""
    return route.fingerprint("xlsx", _RULES)


def read_xlsx(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The workbook in `data`: a heading, tables and lines for each sheet, which is its page.

    Raises ReadError: needs_password, unsupported_type, too_large, corrupt or empty.
    """
    package = open_package(data, name, _MAIN, options)
    sheets = _sheets(data, package, name)
    writer = TextWriter()
    if any(rows for _, rows in sheets):
        markup = _markup(sheets, name)
        for page, (title, rows) in enumerate(sheets, start=1):
            if rows:
                writer.add(Found("title", title, 1, page))
                for found in regions(table_rows(markup.get(page, ""))):
                    writer.add(found._replace(page=page))
    for text in _drawn(package):
        writer.add(Found("paragraph", text))
    document = replace(writer.document(name, fingerprint()), title=None)
    return covered(document, _words(package))


def regions(rows: Rows) -> Iterator[Found]:
    """Tables and lines, separated by blank rows. A row with one cell above a table is a line."""
    for block in _blocks(rows):
        widths = [sum(map(bool, row)) for row in block]
        first = next((at for at, width in enumerate(widths) if width > 1), len(block))
        for row in block[:first]:
            yield Found("paragraph", next(filter(None, row)))
        if first < len(block):
            yield Found("table", markdown_table(block[first:]))


def table_rows(markup: str) -> Rows:
    """The cells of the one table in `markup`, as unstructured writes it."""
    if not markup:
        return []
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    root = etree.fromstring(markup.encode(), parser)
    return [
        ["".join(cell.itertext()).replace(_GUARD, "").strip() for cell in row.iter("td", "th")]
        for row in root.iter("tr")
    ]


def _blocks(rows: Rows) -> Iterator[Rows]:
    block: Rows = []
    for row in rows:
        if any(row):
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _markup(sheets: Sequence[tuple[str, Rows]], name: str) -> dict[int, str]:
    """The HTML table that unstructured makes of each sheet, by its number (from 1)."""
    found = route.partition("xlsx", _guarded(sheets), name, find_subtable=False)
    return {
        int(element.metadata.page_number or 0): element.metadata.text_as_html or ""
        for element in found
    }


def _guarded(sheets: Sequence[tuple[str, Rows]]) -> bytes:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for at, (_, rows) in enumerate(sheets, start=1):
        sheet = book.create_sheet(str(at))
        for row in rows or [[""]]:
            sheet.append([_GUARD + " ".join(text.split())[:_SHOWN] for text in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _sheets(data: bytes, package: Package, name: str) -> list[tuple[str, Rows]]:
    """Title and cells of each sheet, as they show."""
    from openpyxl import load_workbook

    try:
        values = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        formulas = values
        if any(_REMEMBERED.search(package.parts[part]) for part in _parts(package)):
            formulas = load_workbook(io.BytesIO(data), read_only=True)
        return [
            (sheet.title, _rows(sheet, formulas[sheet.title], _merged(package, sheet)))
            for sheet in values.worksheets
        ]
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadError("corrupt", f"{name} cannot be read: {reason}") from error


def _rows(values: Worksheet, formulas: Worksheet, merged: dict[tuple[int, int], Any]) -> Rows:
    """The rows that hold text, a blank row or column wherever some are left out between them."""
    found = _repeated(dict(_cells(values, formulas)), merged)
    used = {number: row for number, row in sorted(found.items()) if any(row.values())}
    places = _places(column for row in used.values() for column, text in row.items() if text)
    width = max(places.values(), default=-1) + 1
    rows: Rows = []
    before = 0
    for number, row in used.items():
        if rows and number > before + 1:
            rows.append([])
        dense = [""] * width
        for column, text in row.items():
            if text:
                dense[places[column]] = text
        rows.append(dense)
        before = number
    return rows


def _places(columns: Iterable[int]) -> dict[int, int]:
    """Where each used column stands, from 0, with one blank column for any that are unused."""
    places: dict[int, int] = {}
    place = before = 0
    for column in sorted(set(columns)):
        place += min(column - before, 2)
        places[column] = place - 1
        before = column
    return places


def _cells(values: Worksheet, formulas: Worksheet) -> Iterator[tuple[int, dict[int, str]]]:
    """Rows that are there, by number, with the cells that are there: a far one costs no more."""
    pairs = zip(_parsed(values), _parsed(formulas), strict=True)
    for (number, shown), (_, written) in pairs:
        both = zip(shown, written, strict=True)
        yield number, {cell.column: _shown(cell, source) for cell, source in both}


def _parsed(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """As openpyxl reads a row, without what it puts between cells and rows."""
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    with sheet._get_source() as source:
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for number, row in parser.parse():
            yield number, [ReadOnlyCell(sheet, **cell) for cell in row]


def _shown(cell: Any, source: Any) -> str:
    """A cell's text: dates in ISO 8601, percentages as such, a formula without a value itself."""
    value = cell.value if cell.value is not None else source.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return _number(value, str(cell.number_format or ""))
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, (date, time, timedelta)):
        return str(value)
    return _CONTROLS.sub(" ", str(value)).strip()


def _number(value: float, pattern: str) -> str:
    if "%" in pattern:
        return f"{value * 100:.12g}%"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _repeated(
    rows: dict[int, dict[int, str]], merged: dict[tuple[int, int], Any]
) -> dict[int, dict[int, str]]:
    """The rows with the text of merged cells in every place that they cover."""
    for (number, column), (top, left) in merged.items():
        rows.setdefault(number, {})[column] = rows.get(top, {}).get(left, "")
    return rows


def _parts(package: Package) -> list[str]:
    return package.names(r"xl/worksheets/[^/]+\.xml")


def _merged(package: Package, sheet: Any) -> dict[tuple[int, int], Any]:
    """Row and column of every covered cell, with those of the cell whose text it shows."""
    from openpyxl.utils.cell import range_boundaries

    part = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
    covering: dict[tuple[int, int], Any] = {}
    for found in re.finditer(rb'<mergeCell [^>]*ref="([^"]+)"', package.parts.get(part, b"")):
        left, top, right, bottom = range_boundaries(found.group(1).decode())
        if left is None or top is None or right is None or bottom is None:
            continue  # whole columns or rows: openpyxl refuses such a workbook before
        if (right - left + 1) * (bottom - top + 1) + len(covering) > _MOST_COVERED:
            continue
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                covering[row, column] = (top, left)
    return covering


def _drawn(package: Package) -> Iterator[str]:
    """Text boxes and chart titles that lie over the cells."""
    for name in package.names(r"xl/(?:drawings|charts)/[^/]+\.xml"):
        tree = package.tree(name)
        for paragraph in () if tree is None else tree.iter(_A + "p"):
            yield "".join(node.text or "" for node in paragraph.iter(_A + "t"))


def _words(package: Package) -> str:
    """A dumb extraction: shared and inline texts, but no numbers, which show in other forms."""
    texts: list[str] = []
    for name in ["xl/sharedStrings.xml", *_parts(package)]:
        tree = package.tree(name)
        for node in () if tree is None else tree.iter(_S + "si", _S + "is"):
            phonetic = {id(t) for p in node.iter(_S + "rPh") for t in p.iter(_S + "t")}
            texts.append(
                "".join(t.text or "" for t in node.iter(_S + "t") if id(t) not in phonetic)
            )
    return "\n".join(texts)
