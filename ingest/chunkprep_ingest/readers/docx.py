"""Word documents: what unstructured leaves out is put where it sees it, then it reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from chunkprep_ingest.boilerplate import left_out
from chunkprep_ingest.coverage import covered
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import unstructured_route as route
from chunkprep_ingest.readers.docx_repair import repair, words
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import open_package
from chunkprep_ingest.readers.writing import Found, TextWriter

if TYPE_CHECKING:
    from unstructured.documents.elements import Element

_RULES = "1"
_MAIN = "word/document.xml"
_CODE_STYLES = frozenset({"code", "source code", "html preformatted", "macro text", "macro"})
_TITLE_STYLES = frozenset({"Title", "TOC Heading", "TOCHeading"})
_RUNNING = frozenset({"Header", "Footer"})


def fingerprint() -> str:
    """Moves with our repairs and with unstructured's version."""
    return route.fingerprint("docx", _RULES)


def read_docx(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`.

    Raises ReadError: needs_password, unsupported_type, too_large, corrupt or empty.
    """
    package = open_package(data, name, _MAIN, options)
    words_of_file = words(package)
    comments = repair(package)
    elements = route.partition("docx", package.to_bytes(), name)
    running = [e.text for e in elements if e.category in _RUNNING]
    if not options.keep_boilerplate:
        elements = [element for element in elements if element.category not in _RUNNING]
        comments += _left_out(running)
    writer = TextWriter()
    for found in route.without_leaps(_found(elements)):
        writer.add(found)
    document = writer.document(name, fingerprint(), warnings=comments)
    return covered(document, words_of_file, "" if options.keep_boilerplate else "\n".join(running))


def _found(elements: Iterable[Element]) -> Iterator[Found]:
    for code, group in groupby(elements, key=_is_code):
        if code:
            lines = list(group)
            yield Found("code", "\n".join(line.text for line in lines), 0, _page(lines[0]))
        else:
            for element in group:
                yield from _one(element)


def _one(element: Element) -> Iterator[Found]:
    page = _page(element)
    level = _heading_level(element)
    if element.category == "Table":
        yield from route.table(element, page)
    elif level:
        yield Found("title", element.text, level, page)
    elif element.category == "ListItem":
        yield route.list_item(element, page)
    else:
        yield Found("paragraph", element.text, 0, page)


def _heading_level(element: Element) -> int:
    """1 for a title and for "Heading 1", 0 for what is no heading by its style."""
    style = element.metadata.style_name or ""
    if style in _TITLE_STYLES:
        return 1
    if style.startswith("Heading") and element.category == "Title":
        return int(element.metadata.category_depth or 0) + 1
    return 0


def _is_code(element: Element) -> bool:
    return (element.metadata.style_name or "").lower() in _CODE_STYLES


def _page(element: Element) -> int | None:
    page = element.metadata.page_number
    return None if page is None else int(page)


def _left_out(running: list[str]) -> tuple[str, ...]:
    return left_out(sum(len(text.split()) for text in running), "headers and footers")
