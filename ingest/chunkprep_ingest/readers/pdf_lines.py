"""The lines of a PDF page, with where they stand and how they are set."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_LINE_ENDS = frozenset("\r\n")
_HYPHEN = "\x02"  # pdfium's sign for a hyphen that a line break put into a word
_SOFT = "\u00ad"
_BOLD = 600  # font weight
_BOLD_NAMES = (b"bold", b"black", b"heavy")
_NAME_BYTES = 128
_SAMPLES = 6  # characters of a line that tell how it is set


class Line(NamedTuple):
    """One line. Positions and `size` (of the font) are in points, from the page's lower left.

    `hyphenated` lines end inside a word, whose rest starts the next line.
    """

    text: str
    page: int
    left: float
    right: float
    baseline: float
    height: float
    """Of the page."""
    size: float
    bold: bool
    hyphenated: bool = False


def page_lines(page: PdfPage, number: int) -> list[Line]:
    """The lines of the page that have text, in the order in which the file draws them."""
    from pypdfium2 import raw

    textpage = page.get_textpage()
    height = page.get_height()
    codes = [raw.FPDFText_GetUnicode(textpage, at) for at in range(textpage.count_chars())]
    lines = []
    for start, text in _split(_characters(codes)):
        line = _line(raw, textpage, start, text)
        if line is not None:
            lines.append(line._replace(page=number, height=height))
    textpage.close()
    return lines


def _characters(codes: list[int]) -> list[str]:
    """One string for each code; the second half of a surrogate pair is empty."""
    characters = [chr(code) if code and code <= 0x10FFFF else "" for code in codes]
    for at, code in enumerate(codes):
        if 0xD800 <= code <= 0xDFFF:
            pair = codes[at + 1] if at + 1 < len(codes) else 0
            if code <= 0xDBFF and 0xDC00 <= pair <= 0xDFFF:
                characters[at] = chr(0x10000 + ((code - 0xD800) << 10) + (pair - 0xDC00))
            elif characters[at - 1] < "\U00010000" or code <= 0xDBFF:
                characters[at] = "\ufffd"
            else:
                characters[at] = ""
    return characters


def _split(characters: list[str]) -> Iterator[tuple[int, list[str]]]:
    """First index and characters of each line."""
    start = 0
    for at, character in enumerate(characters):
        if character in _LINE_ENDS or character == _HYPHEN:
            yield start, characters[start : at + (character == _HYPHEN)]
            start = at + 1
    yield start, characters[start:]


def _line(raw: Any, textpage: Any, start: int, characters: list[str]) -> Line | None:
    text = "".join(characters).replace(_SOFT, "")
    hyphenated = text.endswith(_HYPHEN)
    text = " ".join(text.replace(_HYPHEN, "").split())
    seen = [at for at, c in enumerate(characters) if c and not c.isspace() and c != _HYPHEN]
    if not text or not seen:
        return None
    first, last = start + seen[0], start + seen[-1]
    samples = {start + at for at in (*seen[:: len(seen) // _SAMPLES + 1], seen[-1])}
    left, _ = _edges(raw, textpage, first)
    _, right = _edges(raw, textpage, last)
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage, first, x, y)
    sizes = Counter(_size(raw, textpage, at) for at in sorted(samples))
    size = max(sizes, key=lambda points: (sizes[points], points))
    bold = all(_is_bold(raw, textpage, at) for at in samples)
    return Line(text, 0, left, right, y.value, 0.0, size, bold, hyphenated)


def _edges(raw: Any, textpage: Any, at: int) -> tuple[float, float]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(textpage, at, left, right, bottom, top)
    return left.value, right.value


def _is_bold(raw: Any, textpage: Any, at: int) -> bool:
    """By the font's weight; by its name where the file says nothing else."""
    if raw.FPDFText_GetFontWeight(textpage, at) >= _BOLD:
        return True
    name = ctypes.create_string_buffer(_NAME_BYTES)
    raw.FPDFText_GetFontInfo(textpage, at, name, _NAME_BYTES, None)
    return any(word in name.value.lower() for word in _BOLD_NAMES)


def _size(raw: Any, textpage: Any, at: int) -> float:
    """The font's size as it shows: its own, times the scale of the text's matrix."""
    matrix = raw.FS_MATRIX()
    scale = 1.0
    if raw.FPDFText_GetMatrix(textpage, at, matrix):
        scale = (matrix.c**2 + matrix.d**2) ** 0.5 or 1.0
    return float(round(raw.FPDFText_GetFontSize(textpage, at) * scale * 2) / 2)
