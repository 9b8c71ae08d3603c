"""PDF: text with pages by pdfium, paragraphs from line geometry, headings from font size."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from chunkprep_ingest.boilerplate import left_out
from chunkprep_ingest.coverage import covered
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.pdf_layout import find_blocks, running_lines, with_running, without
from chunkprep_ingest.readers.pdf_lines import Line, page_lines
from chunkprep_ingest.readers.writing import TextWriter

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_VERSION = "1"
_SIGNATURE = b"%PDF-"
_SIGNATURE_WITHIN = 1024  # bytes; ISO 32000 allows other bytes before it
_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
_NAMED_PAGES = 10
_NO_TITLE = re.compile(
    r"$|untitled|microsoft \w+ - |.*\.(?:docx?|pptx?|indd|qxd|tex)$", re.IGNORECASE
)
"""What programs write where their user wrote no title."""


@cache
def fingerprint() -> str:
    """Moves with our rules and with pdfium's version."""
    return f"pdf/{_VERSION}+pypdfium2-{version('pypdfium2')}"


def read_pdf(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`.

    Raises ReadError: needs_password, no_text_layer, corrupt or empty.
    """
    from chunkprep_ingest.readers.pdfium import PDFIUM

    with PDFIUM:  # pdfium is not thread-safe
        lines, unread, title = _lines(data, name)
    running = running_lines(lines)
    found = find_blocks(without(lines, running))
    writer = TextWriter()
    for block in with_running(found, running) if options.keep_boilerplate else found:
        writer.add(block)
    left_out = "" if options.keep_boilerplate else "\n".join(line.text for line in running)
    warnings = _warnings(unread, len(left_out.split()))
    document = writer.document(name, fingerprint(), title=title, warnings=warnings)
    return covered(document, "\n".join(line.text for line in lines), left_out)


def _lines(data: bytes, name: str) -> tuple[list[Line], list[int], str | None]:
    """Lines in reading order, pages that hold pictures and no text, the title if there is one."""
    from pypdfium2 import PdfiumError

    document = _open(data, name)
    lines: list[Line] = []
    unread: list[int] = []
    try:
        pages = len(document)
        for index in range(pages):
            page = document[index]
            found = page_lines(page, index + 1)
            lines.extend(found)
            if not found and _holds_anything(page):
                unread.append(index + 1)
            page.close()
        title = document.get_metadata_value("Title").strip()
    except PdfiumError as error:
        raise ReadError("corrupt", f"{name}: {error}") from error
    finally:
        document.close()
    if not lines:
        code = "no_text_layer" if unread else "empty"
        raise ReadError(code, f"{name}: none of its {pages} pages holds text")
    return lines, unread, None if _NO_TITLE.match(title) else title


def _open(data: bytes, name: str) -> PdfDocument:
    from pypdfium2 import PdfDocument, PdfiumError

    if _SIGNATURE not in data[:_SIGNATURE_WITHIN]:
        raise ReadError("corrupt", f"{name} does not start like a PDF")
    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        if getattr(error, "err_code", None) == _WRONG_PASSWORD:
            raise ReadError("needs_password", f"{name} is encrypted") from error
        raise ReadError("corrupt", f"{name}: {error}") from error
    if not len(document):
        document.close()
        raise ReadError("corrupt", f"{name} holds no pages")
    return document


def _holds_anything(page: PdfPage) -> bool:
    return next(iter(page.get_objects(max_depth=1)), None) is not None


def _warnings(unread: list[int], dropped: int) -> tuple[str, ...]:
    warnings: list[str] = []
    if unread:
        pages = ", ".join(map(str, unread[:_NAMED_PAGES]))
        more = ", …" if len(unread) > _NAMED_PAGES else ""
        warnings.append(f"no_text_layer: pages without text that hold pictures: {pages}{more}")
    return (*warnings, *left_out(dropped, "page headers and footers"))
