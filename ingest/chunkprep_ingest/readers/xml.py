"""XML of any vocabulary: the text of its elements in order, titles as headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from lxml import etree

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.html import visible_words
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import parse_xml
from chunkprep_ingest.readers.writing import Found, TextWriter

_VERSION = "1"
_TITLES = frozenset({"title", "heading", "head"})
_ITEMS = frozenset({"li", "listitem"})
_CODE = frozenset({"programlisting", "screen", "codeblock", "literallayout"})
_LEVELS = 6
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_PROLOGUE = re.compile(r"<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


def fingerprint() -> str:
    """Moves with our reading rules and with the parser's version."""
    version = ".".join(map(str, (*etree.LXML_VERSION[:3], *etree.LIBXML_VERSION)))
    return f"xml/{_VERSION}+lxml-{version}"


def read_xml(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`. Its encoding is what its first line declares, else UTF-8.

    Raises ReadError (corrupt, empty).
    """
    del options
    root = parse_xml(data, name)
    writer = TextWriter()
    for found in _blocks(root):
        writer.add(found)
    document = writer.document(name, fingerprint())
    encoding = root.getroottree().docinfo.encoding or "utf-8"
    return covered(document, _words(data.decode(encoding, "replace")))


def _blocks(root: etree._Element) -> Iterator[Found]:
    """An element with text of its own is one block, with all that is inside it."""
    waiting = [(root, 1)]
    while waiting:
        node, level = waiting.pop()
        if not isinstance(node.tag, str):  # a comment, an instruction
            continue
        if _has_text(node):
            yield _found(node, level)
            continue
        inside = level + any(_name(child) in _TITLES for child in node)
        waiting.extend(
            (child, level if _name(child) in _TITLES else inside) for child in reversed(node)
        )


def _has_text(node: etree._Element) -> bool:
    own = [node.text, *(child.tail for child in node)]
    return any(text and text.strip() for text in own) or any(
        child.tag is etree.Entity for child in node
    )


def _found(node: etree._Element, level: int) -> Found:
    name = _name(node)
    text = "".join(_texts(node))
    if name in _CODE:
        return Found("code", text.strip("\n"), 0, None, node.get("language") or "")
    text = " ".join(text.split())
    if name in _TITLES:
        return Found("title", text, min(level, _LEVELS))
    if name in _ITEMS or any(_name(above) in _ITEMS for above in _lone_parents(node)):
        return Found("list_item", text, 0, None, "-")
    return Found("paragraph", text)


def _lone_parents(node: etree._Element) -> Iterator[etree._Element]:
    """The elements around a node that hold nothing but it."""
    return takewhile(lambda above: len(above) == 1, node.iterancestors())


def _texts(node: etree._Element) -> Iterator[str]:
    for event, inner in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        if event == "start":
            yield inner.text or ""
        elif inner is not node:
            yield inner.tail or ""


def _name(node: etree._Element) -> str:
    return etree.QName(node).localname.lower() if isinstance(node.tag, str) else ""


def _words(text: str) -> str:
    """A dumb extraction, independent of the parser."""
    kept = _CDATA.sub(lambda found: found.group(1).replace("<", "&lt;"), text)
    return visible_words(_WRAPPED.sub(r"<\1x-\2", _PROLOGUE.sub(" ", kept)))


_WRAPPED = re.compile(r"<(/?)(script|style|template|noscript|head|title)\b", re.IGNORECASE)
"""Tags whose content HTML hides; XML does not."""
