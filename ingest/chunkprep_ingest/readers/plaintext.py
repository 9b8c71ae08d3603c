"""Plain text: paragraphs are what blank lines separate, kept as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.markdown import elide_data_uris, elision_warning
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.spans import Block, keep

_VERSION = "1"
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def fingerprint() -> str:
    """Moves with our reading rules."""
    return f"text/{_VERSION}"


def read_text(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`. Raises ReadError (bad_encoding, empty)."""
    source, elided = elide_data_uris(decode(data, options.fallback_encoding).text)
    text, elements = keep(source, _paragraphs(source))
    if not elements:
        raise ReadError("empty", f"{name} holds nothing but white space")
    return ParsedDocument(text, elements, fingerprint(), warnings=elision_warning(elided))


def _paragraphs(source: str) -> Iterator[Block]:
    start = 0
    for gap in _BLANK_LINES.finditer(source):
        yield Block(start, gap.start(), "paragraph")
        start = gap.end()
    yield Block(start, len(source), "paragraph")
