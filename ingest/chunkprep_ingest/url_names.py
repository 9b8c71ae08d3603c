"""The file name of what a URL names: the document's key, and with it the reader."""

from __future__ import annotations

from pathlib import PurePosixPath

from chunkprep_ingest.readers import is_supported

_WEB = ("http", "https")
_FRONT_PAGE = "index"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/pdf": ".pdf",
    "message/rfc822": ".eml",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
}
"""Suffixes by the type that a web server declares."""


def file_name(url: str, media_type: str | None) -> str:
    """The name of the file at a URL without query or fragment.

    Where its own name has no suffix that is read, that of the declared type is added; the front
    page of a host, which has no name, is `index`. In a chain of URLs the first one has the name.
    """
    first = url.partition("::")[0]
    protocol, mark, rest = (first if "://" in first else url).partition("://")
    web = bool(mark) and protocol in _WEB
    name = PurePosixPath(rest.partition("/")[2] if web else rest).name
    suffix = _SUFFIXES.get((media_type or "").strip().lower(), "")
    if not name:
        return _FRONT_PAGE + (suffix or ".html")
    return name if is_supported(name) else name + suffix
