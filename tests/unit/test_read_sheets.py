from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from typing import Any

import openpyxl
import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import read


def parse(book: Any) -> ParsedDocument:
    out = io.BytesIO()
    book.save(out)
    document = read(out.getvalue(), "a.xlsx")
    assert document.coverage == 1.0
    return document


def texts(book: Any) -> list[str]:
    document = parse(book)
    return [document.text[e.start : e.end] for e in document.elements]


def test_sheets_are_sections_and_pages() -> None:
    book = openpyxl.Workbook()
    book.active.title = "Prices"
    book.active.append(["Item", "Price"])
    book.active.append(["Tea", 3])
    book.create_sheet("Empty")
    book.create_sheet("Notes")["B3"] = "one note"
    document = parse(book)
    assert [(e.kind, e.page) for e in document.elements] == [
        ("title", 1),
        ("table", 1),
        ("title", 3),
        ("paragraph", 3),
    ]
    assert document.text == (
        "# Prices\n\n| Item | Price |\n| --- | --- |\n| Tea | 3 |\n\n# Notes\n\none note"
    )
    assert document.title is None


def test_cells_show_as_they_are() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["a", "b", "c"])
    sheet.append([3.14159265358979, 1200.0, 0.15])
    sheet["C2"].number_format = "0%"
    sheet.append([date(2026, 3, 1), datetime(2026, 3, 1, 9, 30), True])
    sheet.append(["007", "NA", "x" * 80])
    sheet.append(["line\nbreak", "pipe|", "=1+1"])
    assert texts(book)[1].splitlines()[2:] == [
        "| 3.14159265358979 | 1200 | 15% |",
        "| 2026-03-01 | 2026-03-01 09:30:00 | TRUE |",
        f"| 007 | NA | {'x' * 80} |",
        "| line break | pipe\\| | =1+1 |",
    ]


def test_blank_rows_separate_tables_and_lines_above_them_are_lines() -> None:
    book = openpyxl.Workbook()
    for row in (["Price list"], ["a", "b"], [1], [], [], ["c", "d"], [2, 3], [], ["Footnote"]):
        book.active.append(row)
    assert texts(book)[1:] == [
        "Price list",
        "| a | b |\n| --- | --- |\n| 1 |  |",
        "| c | d |\n| --- | --- |\n| 2 | 3 |",
        "Footnote",
    ]


def test_merged_cells_are_repeated() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["A1"], sheet["C1"], sheet["C2"] = "merged", "q", "w"
    sheet.merge_cells("A1:B2")
    assert texts(book)[1] == "| merged | merged | q |\n| --- | --- | --- |\n| merged | merged | w |"


def test_a_workbook_without_text_is_empty() -> None:
    with pytest.raises(ReadError, match="empty"):
        parse(openpyxl.Workbook())


def test_a_cell_in_the_farthest_corner_is_read_like_any_other() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Item", None, None, "Price"])
    book.active.append(["Tea", None, None, 3])
    book.active["XFD1048576"] = "far away"
    assert texts(book)[1:] == [
        "| Item | Price |\n| --- | --- |\n| Tea | 3 |",
        "far away",
    ]


def test_what_lies_outside_the_size_that_a_sheet_claims_is_read_too() -> None:
    book = openpyxl.Workbook()
    book.active["C9"] = "beyond"
    out = io.BytesIO()
    book.save(out)
    claims = io.BytesIO()
    with zipfile.ZipFile(out) as given, zipfile.ZipFile(claims, "w") as lying:
        for name in given.namelist():
            part = given.read(name).replace(b'ref="C9:C9"', b'ref="A1:B2"')
            lying.writestr(name, part)
    assert "beyond" in read(claims.getvalue(), "a.xlsx").text
