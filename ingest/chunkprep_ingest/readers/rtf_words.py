"""The words of an RTF file by a dumb extraction, independent of pandoc."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\([a-z]+)(-?\d+)? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}]+)", re.DOTALL)
_CODE_PAGE = re.compile(rb"\\ansicpg(\d+)")
_HIDDEN = re.compile(
    r"fonttbl|colortbl|stylesheet|info|pict|listtext|pntext|header[lrf]?|footer[lrf]?|filetbl|"
    r"revtbl|annotation|atnid|atnauthor|nonshppict|xe|tc|objdata|result"
)
_SHOWN = frozenset({"footnote", "shpinst", "shptxt"})
"""What stands behind a mark for "ignore this" and is text all the same."""
_APART = frozenset("par line tab cell row sect page column nestcell nestrow chftn footnote".split())
_SIGNS = {"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
          "rdblquote": "”", "bullet": "•", "~": "\u00a0", "_": "\u2011", "-": ""}  # fmt: skip


def rtf_words(data: bytes) -> str:
    """The text that is no font's name, picture, header or instruction."""
    declared = _CODE_PAGE.search(data)
    encoding = f"cp{declared.group(1).decode()}" if declared else "cp1252"
    try:
        return "".join(_pieces(data.decode("latin-1"), encoding))
    except LookupError:  # a code page that Python does not know
        return "".join(_pieces(data.decode("latin-1"), "cp1252"))


def _pieces(text: str, encoding: str) -> Iterator[str]:
    outer: list[bool] = []
    hidden = starred = False
    skip = 0  # characters that stand in for a Unicode one
    for word, number, code, sign, brace, plain in _TOKEN.findall(text):
        if brace == "{":
            outer.append(hidden)
            starred, skip = False, 0
        elif brace:
            hidden = outer.pop() if outer else False
        elif sign == "*":
            starred = True
        elif word:
            hidden = hidden or _hides(word, starred)
            starred = False
            if not hidden and word == "u" and number:
                yield chr(int(number) & 0xFFFF)
                skip = 1
            elif not hidden:
                yield " " if word in _APART else _SIGNS.get(word, "")
        elif not hidden:
            shown = _SIGNS.get(sign, sign or "")
            if plain:
                shown = plain.replace("\r", "").replace("\n", "")
            elif code:
                shown = bytes.fromhex(code).decode(encoding, "replace")
            yield shown[skip:]
            skip = 0


def _hides(word: str, starred: bool) -> bool:
    if starred:
        return word not in _SHOWN
    return _HIDDEN.fullmatch(word) is not None
