"""How tokens are counted, and where counts of neighbouring texts add up.

Counts do not add in general. They do where the tokenizer's pre-tokenizer must split, whatever
stands around: docs/exactness.md derives the rules below from the patterns of cl100k_base and
o200k_base, and tests/property/test_exactness.py tries to break them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol


class Counter(Protocol):
    """Counts the tokens of a text, special tokens read as ordinary text."""

    @property
    def encoding(self) -> str:
        """The encoding's name, for example "o200k_base"."""
        ...

    @property
    def fingerprint(self) -> str:
        """Moves whenever a count could: vocabulary, pattern and library version."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text` by itself."""
        ...

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself."""
        ...


class RunningCounter(Counter, Protocol):
    """A counter that can say where a text's tokens end: what splitting needs."""

    def running(self, text: str) -> Sequence[int]:
        """For each offset 0 to len(text), the tokens of `text` that end there or before.

        One pass over the text. At a seam this is the exact count of text[:offset]; inside a run
        that the tokenizer need not part it is what the whole text's tokens happen to be.
        """
        ...


EXACT_ENCODINGS = frozenset({"cl100k_base", "o200k_base"})
"""Encodings for which every rule of `is_seam` is shown."""


def is_seam(text: str, at: int) -> bool:
    """Whether count(text[:at]) + count(text[at:]) is count(text), by a rule, not by counting.

    True after a line feed before a visible character other than "/" (or "/" where the line before
    ends in a letter or digit, or blanks before a visible character), and before a blank that
    follows a visible character. False says only that no rule applies.
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\n":
        if after == "/":
            return _slash_is_safe(text, at)
        return _starts_visibly(text, at)
    return after in " \t" and not before.isspace()


def follows_line(text: str, at: int) -> bool:
    """Whether a line that ends before text[at:] (a header's, say) leaves its count alone."""
    return text[at] != "/" and _starts_visibly(text, at)


def _slash_is_safe(text: str, at: int) -> bool:
    """Whether the last character before the line feeds that end at `at` is a letter or digit."""
    while at > 0 and text[at - 1] == "\n":
        at -= 1
    return at > 0 and text[at - 1].isalnum()


def _starts_visibly(text: str, at: int) -> bool:
    """Whether a visible character stands at `at`, behind nothing but blanks of the same line."""
    while at < len(text) and text[at] in " \t":
        at += 1
    return at < len(text) and not text[at].isspace()


def seam_before(text: str, at: int, floor: int) -> int:
    """The nearest place q in (floor, at) where the tokenizer must split, else `floor`.

    Besides `is_seam` it knows one rule that holds inside a line: a letter followed by a sign or
    punctuation mark (but the apostrophe, which may be part of a contraction).
    """
    for q in range(at - 1, floor, -1):
        before, after = text[q - 1], text[q]
        if after.isspace() or before == "\n":
            if is_seam(text, q):
                return q
        elif before.isalpha() and after not in "'\u2019" and unicodedata.category(after)[0] in "PS":
            return q
    return floor


def seam_after(text: str, at: int, ceiling: int) -> int:
    """The nearest place q in (at, ceiling) where the tokenizer must split, else `ceiling`."""
    for q in range(at + 1, ceiling):
        before, after = text[q - 1], text[q]
        if (after in " \t" or before == "\n") and is_seam(text, q):
            return q
    return ceiling
