"""HTML, read from its own markup: all that a browser would show, in order.

Read directly, because unstructured leaves out `details`, `form`, `label`, `figure`, everything
outside `<main>`, and all text below 256 nested tags, and takes a second per megabyte.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from string import ascii_uppercase

from lxml import etree

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.decode import decode
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.html_blocks import HtmlBlocks
from chunkprep_ingest.readers.html_deep import feed_deep
from chunkprep_ingest.readers.markdown import elide_data_uris, elision_warning
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.writing import TextWriter

_VERSION = "1"
_HEAD_BYTES = 4096
_DECLARED = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"<(?:(!--)|(script|style|template|noscript|head|title)\b)", re.IGNORECASE)
# No part of a tag may hold "<": so that a text of unclosed ones takes linear time.
_LOWER = {ord(capital): capital.lower() for capital in ascii_uppercase}
_TAG = re.compile(r"</?[a-zA-Z](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>|<[/?!a-zA-Z][^<>]*>")


@cache
def fingerprint() -> str:
    """Moves with our reading rules and with the parser's version."""
    version = ".".join(map(str, (*etree.LXML_VERSION[:3], *etree.LIBXML_VERSION)))
    return f"html/{_VERSION}+lxml-{version}"


def read_html(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`. Raises ReadError (bad_encoding, empty)."""
    declared = _DECLARED.search(data, 0, _HEAD_BYTES)
    fallback = options.fallback_encoding
    if declared:
        fallback = (declared.group(1) or declared.group(2)).decode("ascii")
    text, elided = elide_data_uris(decode(data, fallback).text)
    blocks = find_blocks(text, options)
    writer = TextWriter()
    for found in blocks.found:
        writer.add(found)
    document = writer.document(
        name,
        fingerprint(),
        title=blocks.title,
        warnings=elision_warning(elided) + blocks.warnings(),
    )
    return covered(document, visible_words(text), blocks.left_out())


def find_blocks(text: str, options: ReadOptions) -> HtmlBlocks:
    """What an HTML text holds, in the order in which it stands."""
    blocks = HtmlBlocks(keep_boilerplate=options.keep_boilerplate)
    parser = etree.HTMLParser(
        target=blocks, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError, AssertionError):  # nested deeper than lxml goes
        blocks = HtmlBlocks(keep_boilerplate=options.keep_boilerplate)
        feed_deep(text, blocks)
        blocks.close()
    return blocks


def visible_words(text: str) -> str:
    """A dumb extraction, independent of the parser: tags out, entities in."""
    return html.unescape(_TAG.sub(" ", " ".join(_seen(text))))


def _seen(text: str) -> Iterator[str]:
    """The pieces between comments and elements that nobody sees; unclosed ones stay."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter like "İ"; the others become none that a tag has
        lower = text.translate(_LOWER)
    at = 0
    unclosed: set[str] = set()
    for opened in _UNSEEN.finditer(text):
        closing = "-->" if opened.group(1) else f"</{opened.group(2).lower()}"
        if opened.start() < at or closing in unclosed:
            continue
        end = lower.find(closing, opened.end())
        if end < 0:
            unclosed.add(closing)
            continue
        yield text[at : opened.start()]
        at = end + len("-->") if opened.group(1) else end
    yield text[at:]
