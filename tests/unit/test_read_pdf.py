from __future__ import annotations

import io

import pikepdf
import pytest
from fpdf import FPDF
from PIL import Image

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import ReadOptions, read

SENTENCE = "This sentence of a paragraph wraps over several lines of the page, for it is long. "


class Pages:
    """A PDF in the making, in a few words."""

    def __init__(self) -> None:
        self.pdf = FPDF()
        self.pdf.set_auto_page_break(False)
        self.page()

    def page(self) -> None:
        self.pdf.add_page()

    def text(self, text: str, size: float = 11, style: str = "", gap: float = 4) -> None:
        self.pdf.set_font("Helvetica", style, size)
        self.pdf.multi_cell(0, size / 2, text, new_x="LMARGIN", new_y="NEXT")
        self.pdf.ln(gap)

    def foot(self, text: str) -> None:
        self.pdf.set_y(-15)
        self.text(text, 8)

    def save(self) -> bytes:
        return bytes(self.pdf.output())


def shape(data: bytes) -> list[tuple[str, int, int | None, str]]:
    document = read(data, "a.pdf")
    assert document.coverage == 1.0
    return [(e.kind, e.depth, e.page, document.text[e.start : e.end]) for e in document.elements]


def code_of(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data, "a.pdf")
    return caught.value.code


def test_paragraphs_headings_and_items_with_their_pages() -> None:
    pages = Pages()
    pages.text("Handbook", 22)
    pages.text(SENTENCE * 3)
    pages.text(SENTENCE * 2)
    pages.page()
    pages.text("Section", 15)
    pages.text("- one\n- two that goes on\n1. three")
    pages.text("Bold line", style="B")
    pages.text(SENTENCE * 2)
    assert shape(pages.save()) == [
        ("title", 1, 1, "# Handbook"),
        ("paragraph", 0, 1, (SENTENCE * 3).strip()),
        ("paragraph", 0, 1, (SENTENCE * 2).strip()),
        ("title", 2, 2, "## Section"),
        ("list_item", 0, 2, "- one"),
        ("list_item", 0, 2, "- two that goes on"),
        ("list_item", 0, 2, "1. three"),
        ("title", 3, 2, "### Bold line"),
        ("paragraph", 0, 2, (SENTENCE * 2).strip()),
    ]


def test_a_word_broken_at_the_end_of_a_line_is_whole() -> None:
    pages = Pages()
    pages.text("A long para-\ngraph about exam-\nples.")
    assert shape(pages.save())[0][3] == "A long paragraph about examples."


def test_a_paragraph_goes_on_over_a_page_break() -> None:
    pages = Pages()
    pages.text("The first page ends in the middle of a")
    pages.page()
    pages.text("sentence that the second ends.")
    assert shape(pages.save()) == [
        ("paragraph", 0, 1, "The first page ends in the middle of a sentence that the second ends.")
    ]


def running(options: ReadOptions) -> ParsedDocument:
    pages = Pages()
    for number in range(1, 5):
        pages.text("ACME handbook", 8)
        pages.text("abcdef"[number] + SENTENCE)
        pages.foot(f"Page {number}")
        if number < 4:
            pages.page()
    return read(pages.save(), "a.pdf", options)


def test_page_headers_and_footers_are_left_out_on_request() -> None:
    assert running(ReadOptions()).text.count("ACME") == 4
    assert running(ReadOptions()).coverage == 1.0
    document = running(ReadOptions(keep_boilerplate=False))
    assert "ACME" not in document.text
    assert "Page" not in document.text
    assert document.coverage == 1.0
    assert document.warnings == ("boilerplate: 16 words of page headers and footers were left out",)


def encrypted(user: str) -> bytes:
    pages = Pages()
    pages.text("secret")
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pages.save())) as pdf:
        pdf.save(out, encryption=pikepdf.Encryption(owner="owner", user=user))
    return out.getvalue()


def test_a_user_password_is_needed_and_an_owner_password_is_not() -> None:
    assert code_of(encrypted("user")) == "needs_password"
    assert shape(encrypted(""))[0][3] == "secret"


def scan(pages: Pages) -> None:
    pages.pdf.image(Image.new("RGB", (50, 50), "red"))


def test_a_scan_has_no_text_layer() -> None:
    pages = Pages()
    scan(pages)
    assert code_of(pages.save()) == "no_text_layer"


def test_pages_that_are_scans_are_named() -> None:
    pages = Pages()
    pages.text("text")
    pages.page()
    scan(pages)
    assert read(pages.save(), "a.pdf").warnings == (
        "no_text_layer: pages without text that hold pictures: 2",
    )


def test_damaged_and_blank_files() -> None:
    pages = Pages()
    blank = pages.save()
    assert code_of(blank) == "empty"
    pages = Pages()
    pages.text("x")
    assert code_of(pages.save()[:600]) == "corrupt"
    assert code_of(b"no PDF") == "corrupt"
    assert code_of(b"") == "empty"


@pytest.mark.parametrize(
    ("written", "title"), [("Travel rules", "Travel rules"), ("Microsoft Word - x.docx", "Big")]
)
def test_the_title_is_the_files_own_unless_a_program_made_it_up(written: str, title: str) -> None:
    pages = Pages()
    pages.text("Big", 20)
    pages.text(SENTENCE)
    pages.pdf.set_title(written)
    assert read(pages.save(), "a.pdf").title == title
