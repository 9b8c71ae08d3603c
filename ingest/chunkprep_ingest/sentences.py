"""Where sentences end: Unicode's sentence rules (UAX #29), with a guard for abbreviations.

A Latin full stop ends a sentence where white space and something other than a lower-case letter
follow, unless a known abbreviation or a single initial stands before it. Terminators of scripts
that write no space after them (CJK) end a sentence at once. Thai, Lao and Khmer mostly have none.
"""

from __future__ import annotations

import functools
import re

_STERM_BY_LEAD = {
    0xD6: "\u0589",
    0xD8: "\u061d\u061e\u061f",
    0xDB: "\u06d4",
    0xDC: "\u0700\u0701\u0702",
    0xDF: "\u07f9",
    0xE0: "\u0837\u0839\u083d\u083e\u0964\u0965",
    0xE1: (
        "\u104a\u104b\u1362\u1367\u1368\u166e\u1735\u1736\u17d4\u17d5\u1803\u1809\u1944"
        "\u1945\u1aa8\u1aa9\u1aaa\u1aab\u1b4e\u1b4f\u1b5a\u1b5b\u1b5e\u1b5f\u1b7d\u1b7e"
        "\u1b7f\u1c3b\u1c3c\u1c7e\u1c7f"
    ),
    0xE2: ("\u203c\u203d\u2047\u2048\u2049\u2cf9\u2cfa\u2cfb\u2e2e\u2e3c\u2e53\u2e54\u2e60\u2e61"),
    0xE3: "\u3002",
    0xEA: (
        "\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua876\ua877\ua8ce\ua8cf\ua92f\ua9c8\ua9c9\uaa5d"
        "\uaa5e\uaa5f\uaaf0\uaaf1\uabeb"
    ),
    0xEF: "\ufe12\ufe15\ufe16\ufe56\ufe57\uff01\uff1f\uff61",
}
"""Terminators beyond ASCII (Sentence_Break = STerm, basic plane) by the first byte of their UTF-8
form, so that a text is searched only for those of scripts it is written in."""

_ASCII = bytes(range(0x80))
_WIDE = "\u3002\uff01\uff1f\uff61\uff0e\ufe52\ufe12\ufe15\ufe56\ufe57"  # no space follows these
_ALSO = {0xE2: "\u2026", 0xEF: "\uff0e\ufe52"}  # ellipsis, and ATerm of wide scripts
_RUN = ".!?\u3002\uff01\uff1f\u2026"  # terminators that may follow one another
_CLOSERS = r"""["'\u201d\u2019\u00bb)\]}*_`\u300d\u300f\u3011\uff09\u300b]*+"""
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf al ca approx dept inc ltd "
    "co corp jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h u.a bzw".split()
)
_BEFORE_NUMBERS = frozenset("no nr fig eq vol pp p ch sec art".split())
_LONG_ENDINGS = frozenset(
    ending
    for word in _ABBREVIATIONS
    if len(word) > 3
    for ending in (word[-4:], word[-4:].capitalize(), word[-4:].upper())
)


@functools.cache
def _ends_at(char: str) -> re.Pattern[str]:
    """The ends that begin with one terminator: a literal prefix, which `re` finds fastest."""
    first = re.escape(char)
    # A run of terminators is tried once, from its first one, and taken whole: a line of 50,000
    # dots would cost the square of its length otherwise.
    run = rf"{first}(?<![{_RUN}]{first})[{_RUN}]*+{_CLOSERS}"
    follows = r"(?=\s*+\S)" if char in _WIDE else r"(?=\s++[^a-z\u00df-\u00f6\u00f8-\u00ff])"
    return re.compile(run + follows)


def _is_abbreviation(text: str, stop: int) -> bool:
    """Whether the full stop at `stop` belongs to an abbreviation or an initial."""
    if text[stop + 1 : stop + 2] in ("!", "?"):
        return False
    before = text[stop - 1 : stop]
    if not before.isalpha():
        return before.isdigit() and _is_enumerator(text, stop)
    start = stop
    while start > 0 and stop - start < 8 and (text[start - 1].isalpha() or text[start - 1] == "."):
        start -= 1
    word = text[start:stop]
    if len(word) == 1 and word.isupper():
        return word != "I"
    if word.lower() in _BEFORE_NUMBERS:
        return text[stop + 1 : stop + 3].strip()[:1].isdigit()
    return word.lower() in _ABBREVIATIONS


def _is_enumerator(text: str, stop: int) -> bool:
    """Whether the number before `stop` opens a line, as in "1. First"."""
    start = stop
    while start > 0 and text[start - 1].isdigit():
        start -= 1
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    return start == 0 or text[start - 1] == "\n"


def _terminators_in(text: str) -> list[str]:
    """The terminators that occur in the text, the full stop apart."""
    found = [char for char in "!?" if char in text]
    if not text.isascii():
        raw = text.encode(errors="replace").translate(None, _ASCII)
        beyond = raw.decode()  # little, in most languages that have many kinds of terminators
        found += [
            char
            for lead, chars in _STERM_BY_LEAD.items()
            if lead in raw
            for char in chars + _ALSO.get(lead, "")
            if char in beyond
        ]
    return found


def sentence_ends(text: str) -> list[int]:
    """Offsets just behind each sentence but the last, ascending: behind the terminator and what
    closes with it (quotes, brackets), before the white space.
    """
    ends = [
        match.end()
        for match in _ends_at(".").finditer(text)
        # Most sentences end in a word of four letters or more: told without a call.
        if ((word := text[(at := match.start()) - 4 : at]).isalpha() and word not in _LONG_ENDINGS)
        or not _is_abbreviation(text, at)
    ]
    others = _terminators_in(text)
    if not others:
        return ends
    for char in others:
        ends += [match.end() for match in _ends_at(char).finditer(text)]
    return sorted(set(ends))
