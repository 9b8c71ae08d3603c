"""From bytes to text by one rule: never wrong letters in silence.

A byte-order mark decides, else strict UTF-8, else the fallback that the user declared, else the
failure `bad_encoding`, which says which byte. Then CRLF and CR become LF, the mark and NULs go,
lone surrogates become U+FFFD, and nothing else changes.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from chunkprep_ingest.errors import ReadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 stands before UTF-16: its little-endian mark starts with the other's."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_FEW_NULS = 3
_WIDE_SHARE = 0.1
"""More NUL bytes than a few, and than this share, mean UTF-16 or UTF-32 without a mark."""


class Decoded(NamedTuple):
    """A text, and the encoding that its bytes were in."""

    text: str
    encoding: str


def decode(data: bytes, fallback: str | None = None) -> Decoded:
    """The text in `data`. `fallback` names the encoding to try where UTF-8 fails.

    Raises ReadError (bad_encoding) that names the byte, its offset and its line.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(clean(_strict(data[len(mark) :], encoding, len(mark))), encoding)
    if data.count(0) > max(_FEW_NULS, len(data) * _WIDE_SHARE):
        return Decoded(clean(_declared(data, fallback, _wide(data))), fallback or "")
    try:
        return Decoded(clean(_strict(data, "utf-8", 0)), "utf-8")
    except ReadError as error:
        return Decoded(clean(_declared(data, fallback, error)), fallback or "")


def clean(text: str) -> str:
    """`text` with LF line ends, without a leading mark and NULs, lone surrogates as U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        text = text.replace("\x00", "")
    text = text.lstrip("\ufeff")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _strict(data: bytes, encoding: str, skipped: int) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding.startswith("utf"):
            try:
                return data.decode(encoding, "surrogatepass")
            except UnicodeDecodeError:
                pass
        raise _failure(data, encoding, error, skipped) from error


def _declared(data: bytes, fallback: str | None, failure: ReadError) -> str:
    if not fallback:
        raise failure
    try:
        codecs.lookup(fallback)
    except LookupError:
        raise ReadError(
            "bad_encoding",
            f"{failure.detail}, and the declared encoding {fallback!r} is unknown",
            "declare one that Python knows, for example cp1252",
        ) from None
    return _strict(data, fallback, 0)


def _failure(data: bytes, encoding: str, error: UnicodeDecodeError, skipped: int) -> ReadError:
    line = data.count(b"\n", 0, error.start) + 1
    at = error.start + skipped
    byte = data[error.start] if error.start < len(data) else 0
    return ReadError(
        "bad_encoding", f"byte 0x{byte:02X} at offset {at} (line {line}) is not {encoding}"
    )


def _wide(data: bytes) -> ReadError:
    return ReadError(
        "bad_encoding",
        f"byte 0x00 at offset {data.index(0)}, and every few bytes after it: binary, or UTF-16 "
        f"without a byte-order mark",
    )
