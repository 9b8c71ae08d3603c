"""Where a document is parted around elements that have chunks of their own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Set
from itertools import groupby

from chunkprep_ingest import gaps
from chunkprep_ingest.model import Element, ElementKind
from chunkprep_ingest.pieces import Pieces
from chunkprep_ingest.records import Rendered


def edges_around(
    pieces: Pieces, rendered: Rendered, source: tuple[Element, ...], kinds: Set[ElementKind]
) -> list[int]:
    """The first and last edge of the pieces, and those before and behind each element of `kinds`,
    ascending. A heading stays with the element below it; `source` are the document's elements, of
    which a table may be rendered as several.
    """
    edges = {0, len(pieces)}
    if kinds.isdisjoint(element.kind for element in source):
        return sorted(edges)
    starts = [element.start for element in source]

    def number(element: Element) -> int:
        """Which of the document's elements it is rendered from."""
        return bisect_right(starts, rendered.in_document(element.start, element.end)[0])

    for _, group in groupby(pieces.elements, key=number):
        run = list(group)
        if run[0].kind in kinds:
            edges.add(_with_heading(pieces, bisect_right(pieces.start, run[0].start) - 1))
            edges.add(bisect_left(pieces.start, run[-1].end))
    return sorted(edges)


def _with_heading(pieces: Pieces, piece: int) -> int:
    """The piece at which the headings directly above it start: nothing parts them from it."""
    while piece and pieces.strength[piece] == gaps.JOINED:
        piece -= 1
    return piece
