"""How strong a gap between two pieces is: where a document would rather be parted.

Strength orders the places at which the splitter may cut: it takes the strongest that keeps
every block under the cap, and goes below an element's edge only where the element alone does
not fit.
"""

from __future__ import annotations

from typing import Final

from chunkprep_ingest.model import BoundaryKind, Element

TOP_HEADING: Final = 100
LOWEST_HEADING: Final = 90
PARAGRAPH: Final = 60
LIST_ITEM: Final = 50
INTRODUCTION: Final = 35  # between a line ending in ":" and the list, table or code it announces
TABLE_ROW: Final = 30
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


def between(before: Element, after: Element, ends_with_colon: bool) -> int:
    """The strength of the gap between two neighbouring elements."""
    if before.kind == "title":
        return JOINED
    if after.kind == "title":
        return max(TOP_HEADING - after.depth, LOWEST_HEADING)
    if before.kind == "list_item" and after.kind == "list_item":
        return LIST_ITEM - min(after.depth, 9)
    if ends_with_colon and after.kind != "paragraph":
        return INTRODUCTION
    return PARAGRAPH


_ENDED: dict[str, BoundaryKind] = {
    "paragraph": "paragraph",
    "list_item": "list_item",
    "table": "table_row",
    "code": "code_block",
}


def boundary_kind(before: Element, after: Element) -> BoundaryKind | None:
    """The kind of a boundary between two elements; None behind a heading, which ends no chunk."""
    if before.kind == "title":
        return None
    return "heading" if after.kind == "title" else _ENDED[before.kind]
