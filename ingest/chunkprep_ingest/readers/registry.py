"""Which reader reads which file, by its suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple, cast

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.fallback import marked
from chunkprep_ingest.readers.options import ReadOptions

Read = Callable[[bytes, str, ReadOptions], ParsedDocument]


class Reader(NamedTuple):
    """Where a reader lives: imported only when a file of its kind is read."""

    module: str
    function: str
    suffixes: tuple[str, ...]


_READERS: dict[str, Reader] = {
    "markdown": Reader("markdown", "read_markdown", (".md", ".markdown", ".mdown", ".mkd")),
    "html": Reader("html", "read_html", (".html", ".htm", ".xhtml")),
    "docx": Reader("docx", "read_docx", (".docx",)),
    "pptx": Reader("slides", "read_pptx", (".pptx",)),
    "xlsx": Reader("sheets", "read_xlsx", (".xlsx",)),
    "pdf": Reader("pdf", "read_pdf", (".pdf",)),
    "eml": Reader("mail", "read_eml", (".eml",)),
    "msg": Reader("outlook", "read_msg", (".msg",)),
    "xml": Reader("xml", "read_xml", (".xml",)),
    "epub": Reader("pandoc", "read_epub", (".epub",)),
    "odt": Reader("pandoc", "read_odt", (".odt",)),
    "rtf": Reader("pandoc", "read_rtf", (".rtf",)),
    "rst": Reader("pandoc", "read_rst", (".rst", ".rest")),
    "org": Reader("pandoc", "read_org", (".org",)),
    "csv": Reader("delimited", "read_csv", (".csv",)),
    "tsv": Reader("delimited", "read_tsv", (".tsv", ".tab")),
    "text": Reader("plaintext", "read_text", (".txt", ".text", ".log")),
}

_WITH_BOILERPLATE = frozenset({"html", "docx", "pdf", "eml", "msg", "epub", "odt"})
_WITHOUT_BOILERPLATE = "+without-boilerplate"

_OLD_OFFICE = {".doc": ".docx", ".dot": ".docx", ".ppt": ".pptx", ".pps": ".pptx", ".xls": ".xlsx"}

SUPPORTED: Mapping[str, str] = MappingProxyType(
    {suffix: name for name, reader in _READERS.items() for suffix in reader.suffixes}
)
"""Reader name by suffix (lower case, with its dot)."""


def suffix_of(name: str) -> str:
    """The suffix of a file name or key, in lower case; empty where it has none."""
    last = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    return dot + suffix.lower() if stem and dot else ""


def is_supported(name: str) -> bool:
    """Whether a reader exists for files of this name."""
    return suffix_of(name) in SUPPORTED


def reader_name(name: str) -> str:
    """The reader for files of this name. Raises ReadError (unsupported_type)."""
    suffix = suffix_of(name)
    if suffix not in SUPPORTED:
        kind = f"{suffix} files" if suffix else "files without a suffix"
        remedy = f"save it as {_OLD_OFFICE[suffix]}" if suffix in _OLD_OFFICE else None
        raise ReadError("unsupported_type", f"{name}: no reader for {kind}", remedy)
    return SUPPORTED[suffix]


def _shortening(reader: str, options: ReadOptions) -> str:
    """What the fingerprint of a reader gets where it leaves boilerplate out."""
    leaves_out = not options.keep_boilerplate and reader in _WITH_BOILERPLATE
    return _WITHOUT_BOILERPLATE if leaves_out else ""


@cache
def _module(reader: str) -> object:
    return import_module(f"chunkprep_ingest.readers.{_READERS[reader].module}")


@cache
def _fingerprint(reader: str) -> str:
    return cast("Callable[[], str]", getattr(_module(reader), "fingerprint"))()  # noqa: B009


def reader_fingerprint(name: str, options: ReadOptions | None = None) -> str:
    """The fingerprint that reading a file of this name gives, without reading it.

    Raises ReadError (unsupported_type).
    """
    reader = reader_name(name)
    return _fingerprint(reader) + _shortening(reader, options or ReadOptions())


def read(data: bytes, name: str, options: ReadOptions | None = None) -> ParsedDocument:
    """The document in `data`; `name` (a key or file name) decides on the reader.

    Raises ReadError with one of READ_CODES.
    """
    options = options or ReadOptions()
    reader = reader_name(name)
    if len(data) > options.max_bytes:
        raise ReadError(
            "too_large", f"{name} holds {len(data)} bytes; the limit is {options.max_bytes}"
        )
    if not data:
        raise ReadError("empty", f"{name} holds 0 bytes")
    function = cast(Read, getattr(_module(reader), _READERS[reader].function))
    document = function(data, name, options)
    document = replace(document, reader=document.reader + _shortening(reader, options))
    return marked(document, data, reader, options, lambda other: function(data, name, other))
