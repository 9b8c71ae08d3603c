"""Slide decks: unstructured reads the shapes; charts, diagrams, notes and the rest are put back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import unstructured_route as route
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import open_package
from chunkprep_ingest.readers.slides_repair import MAIN, Slide, mark_bullets, slides, words
from chunkprep_ingest.readers.writing import Found, TextWriter

if TYPE_CHECKING:
    from unstructured.documents.elements import Element

_RULES = "1"
_NOTES = "Notes: "


def fingerprint() -> str:
    """Moves with our repairs and with unstructured's version."""
    return route.fingerprint("pptx", _RULES)


def read_pptx(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The deck in `data`: each slide is a page and a section under its title.

    Raises ReadError: needs_password, unsupported_type, too_large, corrupt or empty.
    """
    package = open_package(data, name, MAIN, options)
    deck = slides(package)
    mark_bullets(package, deck)
    elements: dict[int, list[Element]] = defaultdict(list)
    for element in route.partition("pptx", package.to_bytes(), name):
        elements[int(element.metadata.page_number or 0)].append(element)
    writer = TextWriter()
    for page, slide in enumerate(deck, start=1):
        found = list(_slide(elements[page], slide, page))
        if found and found[0].kind != "title":
            writer.add(Found("title", f"Slide {page}", 1, page))
        for item in route.without_leaps(found):
            writer.add(item)
    document = writer.document(name, fingerprint())
    return covered(document, words(deck))


def _slide(elements: Iterable[Element], slide: Slide, page: int) -> Iterator[Found]:
    found = [item for element in elements for item in _one(element, page)]
    yield from (item for item in found if item.kind == "title")
    yield from (item for item in found if item.kind != "title")
    seen = " ".join(" ".join(item.text.split()) for item in found)
    for text in slide.texts:
        if " ".join(text.split()) not in seen:
            yield Found("paragraph", text, 0, page)
    for chart in slide.charts:
        yield Found("table", chart, 0, page)
    for at, note in enumerate(slide.notes):
        yield Found("paragraph", note if at else _NOTES + note, 0, page)


def _one(element: Element, page: int) -> Iterator[Found]:
    text = element.text.replace("\v", "\n")
    if element.category == "Table":
        yield from route.table(element, page)
    elif element.category == "Title" and not element.metadata.category_depth:
        yield Found("title", text, 1, page)
    elif element.category == "ListItem":
        yield route.list_item(element, page)
    elif element.category != "PageBreak":
        yield Found("paragraph", text, 0, page)
