"""Whether a reading depended on the fallback encoding, and how its fingerprint says so.

What a document's bytes say of their encoding wins over the fallback, so a document that was read
without its help reads the same under any other.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import replace

from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.options import ReadOptions

_MARK = "+fallback-"
_IN_PARTS = "eml"
"""The reader whose parts have encodings of their own."""

_TEXTUAL = frozenset({"markdown", "html", "csv", "tsv", "text", "rst", "org", _IN_PARTS})


def marked(
    document: ParsedDocument,
    data: bytes,
    reader: str,
    options: ReadOptions,
    read: Callable[[ReadOptions], ParsedDocument],
) -> ParsedDocument:
    """The document, with the fallback in its reader fingerprint where it was needed.

    `read` reads the same bytes under other options.
    """
    fallback = options.fallback_encoding
    if (
        fallback is None
        or reader not in _TEXTUAL
        or not _needed(document, data, reader, options, read)
    ):
        return document
    return replace(document, reader=document.reader + _MARK + codecs.lookup(fallback).name)


def _needed(
    document: ParsedDocument,
    data: bytes,
    reader: str,
    options: ReadOptions,
    read: Callable[[ReadOptions], ParsedDocument],
) -> bool:
    try:
        if reader != _IN_PARTS:
            decode(data)
            return False
    except ReadError:
        pass  # the document may declare its encoding itself
    try:
        return read(replace(options, fallback_encoding=None)).text != document.text
    except ReadError:
        return True


def reads_alike(stored: str, plain: str, fallback: str | None) -> bool:
    """Whether a stored reader fingerprint is what reading the same bytes gives now.

    `plain` is the reader's fingerprint, `fallback` the encoding declared now; None: as before.
    """
    reader, mark, encoding = stored.partition(_MARK)
    if reader != plain:
        return False
    return not mark or fallback is None or codecs.lookup(fallback).name == encoding
