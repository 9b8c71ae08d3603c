"""How strong a gap between two pieces is: where a document would rather be parted.

Strength orders the places at which the splitter may cut: it takes the strongest that keeps
every block under the cap, and goes below an element's edge only where the element alone does
not fit.
"""

from __future__ import annotations

from typing import Final

from chunkprep_ingest.model import ELEMENT_KINDS, BoundaryKind, ElementKind

MAX_DEPTH: Final = 9
TOP_HEADING: Final = 100
LOWEST_HEADING: Final = 90
PARAGRAPH: Final = 60
LIST_ITEM: Final = 50
INTRODUCTION: Final = 35  # between a line ending in ":" and the list, table or code it announces
TABLE_ROW: Final = 30
HEADING_LIKE_LINE: Final = 28  # before a short line that does not end like a sentence
SENTENCE_AT_LINE_END: Final = 25
BLANK_CODE_LINE: Final = 24
OUTER_CODE_LINE: Final = 22
SENTENCE: Final = 20
CODE_LINE: Final = 16
LINE: Final = 15
CELL: Final = 12
WORD: Final = 10
JOINED: Final = 4  # a heading and its first text, a table's header and its first row
INSIDE_WORD: Final = 2

ELEMENT_EDGE: Final = INTRODUCTION
"""From here up a gap lies between two elements."""


_ENDED: dict[ElementKind, BoundaryKind] = {
    "paragraph": "paragraph",
    "list_item": "list_item",
    "table": "table_row",
    "code": "code_block",
}

Gap = tuple[int, BoundaryKind | None]
"""Strength, and the kind of boundary that a cut there is."""


def _between(before: ElementKind, after: ElementKind, depth: int, colon: bool) -> Gap:
    if before == "title":
        return JOINED, None  # a heading ends no chunk
    if after == "title":
        return max(TOP_HEADING - depth, LOWEST_HEADING), "heading"
    kind = _ENDED[before]
    if before == "list_item" and after == "list_item":
        return LIST_ITEM - min(depth, MAX_DEPTH), kind
    if colon and after != "paragraph":
        return INTRODUCTION, kind
    return PARAGRAPH, kind


BETWEEN: Final[dict[tuple[ElementKind, ElementKind, int, bool], Gap]] = {
    (before, after, depth, colon): _between(before, after, depth, colon)
    for before in ELEMENT_KINDS
    for after in ELEMENT_KINDS
    for depth in range(MAX_DEPTH + 1)
    for colon in (False, True)
}
"""The gap between two neighbouring elements, by their kinds, the second one's depth (at most
MAX_DEPTH) and whether the first ends with a colon."""
