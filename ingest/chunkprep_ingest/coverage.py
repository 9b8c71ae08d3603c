"""How much of a file's own words reached the text: the check on every reader."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from chunkprep_ingest.model import ParsedDocument

LOW = 0.98
"""Below this share a document is ingested with a warning that names what is missing."""

_WORD = re.compile(r"\w+")
_NO_WORD = re.compile(r"\W+")
_NAMED = 10
_TRACED = 500
"""Distinct missing words that are looked for inside joined words; the rest count as missing."""


def measure(words_of_file: str, text: str) -> tuple[float, tuple[str, ...]]:
    """The share (0 to 1) of the words in `words_of_file` that `text` holds, and some it does not.

    Words count as often as they occur. A word that stands joined to another in `text` counts as
    found; order and punctuation do not matter. A file without words is fully covered.
    """
    wanted = Counter(_WORD.findall(words_of_file))
    total = wanted.total()
    if not total:
        return 1.0, ()
    short = wanted - Counter(_WORD.findall(text))
    if not short:
        return 1.0, ()
    joined = _NO_WORD.sub("", text)
    missing: dict[str, int] = {}
    for at, (word, lacking) in enumerate(short.items()):
        if at < _TRACED:
            lacking = min(lacking, max(0, wanted[word] - joined.count(word)))
        if lacking:
            missing[word] = lacking
    share = 1 - sum(missing.values()) / total
    return share, tuple(list(missing)[:_NAMED])


def covered(document: ParsedDocument, words_of_file: str, left_out: str = "") -> ParsedDocument:
    """`document` with its coverage, and a warning where that is low.

    `left_out` is text that a setting keeps out of the document: it counts as found.
    """
    share, missing = measure(words_of_file, f"{document.text}\n{left_out}")
    warnings = document.warnings
    if share < LOW:
        warnings += (
            f"low_coverage: {share:.3f} of the words were read; missing: {_list(missing)}",
        )
    return replace(document, coverage=share, missing=missing, warnings=warnings)


def _list(words: tuple[str, ...]) -> str:
    return ", ".join(word[:40] for word in words)
