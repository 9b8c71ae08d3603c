"""The words of EPUB and ODT files by a dumb extraction, independent of pandoc."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from lxml import etree

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers.html import visible_words
from chunkprep_ingest.readers.package import Package

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_UNSEEN = frozenset({f"{_TEXT}tracked-changes", f"{_OFFICE}annotation"})
_APART = frozenset(f"{_TEXT}{name}" for name in ("p", "h", "s", "tab", "line-break", "note"))


def odt_words(package: Package) -> str:
    """The text of an ODT's body; deleted text and comments aside."""
    root = package.tree("content.xml")
    body = None if root is None else root.find(f"{_OFFICE}body")
    return "" if body is None else "".join(_odt_text(body))


def _odt_text(body: etree._Element) -> Iterator[str]:
    hidden: etree._Element | None = None
    for event, node in etree.iterwalk(body, events=("start", "end")):
        if hidden is None and event == "start":
            if node.tag in _UNSEEN:
                hidden = node
                continue
            if node.tag in _APART:
                yield " "
            yield node.text or ""
        elif event == "end":
            if hidden is node:
                hidden = None
            if hidden is None:
                yield (" " if node.tag in _APART else "") + (node.tail or "")


def epub_words(package: Package) -> str:
    """The text of the pages that an EPUB shows, in their order."""
    return "\n".join(
        visible_words(package.parts[page].decode("utf-8", "replace"))
        for page in _spine(package)
        if page in package.parts
    )


def _spine(package: Package) -> Iterator[str]:
    try:
        container = package.tree("META-INF/container.xml")
        named = [] if container is None else container.xpath("//@full-path")
        book = package.tree(str(named[0])) if named else None
    except ReadError:
        return
    if book is None:
        return
    items = {node.get("id"): node.get("href") for node in book.iter("{*}item")}
    for node in book.iter("{*}itemref"):
        href = items.get(node.get("idref"))
        if href:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(named[0]), unquote(href)))
