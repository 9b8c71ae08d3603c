from __future__ import annotations

import io
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import read


def shape(deck: Any) -> list[tuple[str, int, int | None, str]]:
    out = io.BytesIO()
    deck.save(out)
    document = read(out.getvalue(), "a.pptx")
    assert document.coverage == 1.0
    return [(e.kind, e.depth, e.page, document.text[e.start : e.end]) for e in document.elements]


def inches(*values: float) -> list[Any]:
    return [Inches(value) for value in values]


def test_a_slide_is_a_page_and_a_section() -> None:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Deck"
    first.placeholders[1].text = "Subtitle"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Two\vlines"
    frame = second.placeholders[1].text_frame
    frame.text = "one"
    nested = frame.add_paragraph()
    nested.text, nested.level = "nested", 1
    frame.add_paragraph().text = "three"
    second.notes_slide.notes_text_frame.text = "said aloud"
    assert shape(deck) == [
        ("title", 1, 1, "# Deck"),
        ("paragraph", 0, 1, "Subtitle"),
        ("title", 1, 2, "# Two lines"),
        ("list_item", 0, 2, "- one"),
        ("list_item", 1, 2, "  - nested"),
        ("list_item", 0, 2, "- three"),
        ("paragraph", 0, 2, "Notes: said aloud"),
    ]


def test_tables_charts_and_text_off_the_slide_are_read() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(*inches(1, 1, 3, 1)).text_frame.text = "free"
    table = slide.shapes.add_table(2, 2, *inches(1, 2, 3, 1)).table
    table.cell(0, 0).text, table.cell(0, 1).text, table.cell(1, 0).text = "h", "i", "1"
    slide.shapes.add_textbox(*inches(-5, -5, 3, 1)).text_frame.text = "off the slide"
    numbers: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    numbers.categories = ["Q1", "Q2"]
    numbers.add_series("Sales", (1.5, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *inches(1, 4, 3, 2), numbers)
    assert shape(deck) == [
        ("title", 1, 1, "# Slide 1"),
        ("paragraph", 0, 1, "free"),
        ("table", 0, 1, "| h | i |\n| --- | --- |\n| 1 |  |"),
        ("paragraph", 0, 1, "off the slide"),
        ("table", 0, 1, "|  | Sales |\n| --- | --- |\n| Q1 | 1.5 |\n| Q2 | 2 |"),
    ]


def test_an_empty_deck_is_empty() -> None:
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[6])
    with pytest.raises(ReadError, match="empty"):
        shape(deck)
