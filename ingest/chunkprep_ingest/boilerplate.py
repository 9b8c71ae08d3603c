"""Words that a setting keeps out of the chunks, as a warning says it and as a run sums it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOLD = re.compile(r"boilerplate: (\d+) words of .* were left out")


def left_out(words: int, kind: str) -> tuple[str, ...]:
    """The warning that so many words of a kind were left out; none for no words."""
    return (f"boilerplate: {words} words of {kind} were left out",) if words else ()


def left_out_words(warnings: Iterable[str]) -> int:
    """How many words a document's warnings say were left out."""
    told = (_TOLD.fullmatch(warning) for warning in warnings)
    return sum(int(found[1]) for found in told if found)
