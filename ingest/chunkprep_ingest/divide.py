"""Which pieces make a chunk: structure first, then even sizes.

A pure decision over the sizes and gap strengths of pieces. Sections are kept whole where they
fit, neighbouring sections that fit are grouped evenly, and only what does not fit is opened: at
its sub-headings, then between its elements, then inside an element that does not fit alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from chunkprep_ingest import gaps

Range = tuple[int, int]
"""Pieces [first, last) of one chunk."""

_COSTS = (
    (gaps.PARAGRAPH, 0.0),
    (gaps.LIST_ITEM - gaps.MAX_DEPTH, 0.01),
    (gaps.INTRODUCTION, 0.1),
    (gaps.HEADING_LIKE_LINE, 0.0),
    (gaps.BLANK_CODE_LINE, 0.02),
    (gaps.SENTENCE, 0.1),
    (gaps.CODE_LINE, 0.2),
    (gaps.LINE, 0.5),
    (gaps.WORD, 1.0),
    (0, 2.0),
)
"""What a cut at a gap of at least this strength costs, in the unit of `even_groups`: tuned on the
evaluation corpora (`make eval-split`) so that few references are cut at a high fill."""

_ATOMS = 10
"""A block is made of about so many atoms: finer ones cost time and move no edge far."""

LEAST = 0.5
STRADDLE = 0.05
_NEVER = float("inf")
_GAP_COST = [
    next(cost for least, cost in _COSTS if strength >= least)
    for strength in range(gaps.TOP_HEADING + 1)
]


class Divider:
    """Divides pieces into ranges that cost at most the room of their first piece.

    `before[k]` is the cost in tokens of all pieces before k (len(pieces) + 1 entries), `room(k)`
    what a block that starts at piece k leaves for text under the cap, `target(k)` what even
    sizes aim for at most (`targets` for many), `least` is the smallest target there is: up to
    there nobody asks.
    """

    def __init__(
        self,
        before: Sequence[int],
        strength: list[int],
        room: Callable[[int], int],
        target: Callable[[int], int],
        targets: Callable[[list[int]], list[int]],
        least: int,
        minimum: int,
        span_sections: bool,
    ) -> None:
        self.before = before
        self.strength = strength
        self.room = room
        self.target = target
        self.targets = targets
        self.least = least
        self.minimum = minimum
        self.span_sections = span_sections

    def divide(self, first: int, last: int) -> Iterator[Range]:
        """The chunks of pieces [first, last), in order."""
        if last - first < 2 or self._fits(first, last):
            yield first, last
            return
        strongest = max(self.strength[first + 1 : last])
        if strongest < gaps.LOWEST_HEADING:
            yield from self._even(self._atoms(first, last))
        else:
            yield from self._sections(self._edges(first, last, strongest))

    def _size(self, first: int, last: int) -> int:
        return self.before[last] - self.before[first]

    def _fits(self, first: int, last: int) -> bool:
        size = self.before[last] - self.before[first]
        return size <= self.least or size <= self.target(first)

    def _edges(self, first: int, last: int, strength: int) -> list[int]:
        gaps_ = self.strength
        return [first, *(k for k in range(first + 1, last) if gaps_[k] == strength), last]

    def _sections(self, edges: list[int]) -> Iterator[Range]:
        """Sibling sections: runs of small ones grouped evenly, large ones opened.

        A run that would be a sliver joins the large section beside it.
        """
        run = [edges[0]]
        large: Range | None = None
        for first, last in pairwise(edges):
            if self._fits(first, last):
                run.append(last)
                continue
            if self._is_sliver(run, first):
                self._soften(run)
                first = run[0]
            else:
                if large:
                    yield from self.divide(*large)
                    large = None
                yield from self._grouped(run)
            if large:
                yield from self.divide(*large)
            large = first, last
            run = [last]
        if large and self._is_sliver(run, run[-1]):
            self._soften(run[:-1])
            large = large[0], run[-1]
            run = run[-1:]
        if large:
            yield from self.divide(*large)
        yield from self._grouped(run)

    def _is_sliver(self, run: list[int], end: int) -> bool:
        """Whether the small sections gathered so far would make a chunk below the minimum."""
        return self.span_sections and len(run) > 1 and self._size(run[0], end) < self.minimum

    def _soften(self, edges: list[int]) -> None:
        """Make the gaps at these edges ordinary ones, so that a sliver is not cut off again."""
        for k in edges:
            self.strength[k] = min(self.strength[k], gaps.PARAGRAPH)

    def _grouped(self, run: list[int]) -> Iterator[Range]:
        if self.span_sections:
            yield from self._even(run)
        else:
            yield from pairwise(run)

    def _atoms(self, first: int, last: int) -> list[int]:
        """Edges between the largest runs that fit: elements, or parts of those that do not."""
        edges = [first]
        if last - first < 2:
            edges.append(last)
        else:
            self._open(first, last, edges)
        return edges

    def _open(self, first: int, last: int, edges: list[int], inside: bool = False) -> None:
        """Append the edges of the atoms of [first, last): elements that fit, and the sentences,
        rows or lines of one that does not (`inside`), no finer than a block needs.
        """
        strongest = max(self.strength[first + 1 : last])
        grain = 0
        if strongest < gaps.ELEMENT_EDGE:
            room = self.room(first)
            grain = room // _ATOMS
            if self._size(first, last) <= (2 * grain if inside else room):
                edges.append(last)
                return
            inside = True
        before = self.before
        at = first
        for k, following in pairwise([*self._edges(first, last, strongest)[1:], last]):
            if before[following] - before[at] < grain and k < last:
                continue  # with the next one it is still a grain
            if k - at < 2:
                edges.append(k)
            else:
                self._open(at, k, edges, inside)
            at = k

    def _even(self, edges: list[int]) -> Iterator[Range]:
        """Group the runs between edges so that blocks are full, alike, and cut at strong gaps."""
        sizes = [self.before[k] for k in edges]
        if len(edges) < 2:
            return
        if len(edges) == 2 or sizes[-1] - sizes[0] <= self.target(edges[0]):
            yield edges[0], edges[-1]
            return
        inner = {self.strength[k] for k in edges[1:-1]}
        if len(inner) == 1:
            yield from self._alike(edges, sizes)
            return
        rooms = self.targets(edges[:-1])
        strength = [self.strength[k] for k in edges[:-1]] + [gaps.TOP_HEADING]
        for i, j in even_groups(sizes, rooms, strength):
            yield edges[i], edges[j]

    def _alike(self, edges: list[int], sizes: list[int]) -> Iterator[Range]:
        """Even groups where no gap is stronger than another: nothing to weigh, cut by size."""
        at, end = 0, len(edges) - 1
        while at < end:
            room = self.target(edges[at])
            base = sizes[at]
            total = sizes[end] - base
            even = base + total / -(-total // room)
            far = max(at + 1, bisect_right(sizes, base + room) - 1)
            near = max(at + 1, min(far, bisect_left(sizes, even)))
            if near > at + 1 and even - sizes[near - 1] < sizes[near] - even:
                near -= 1
            yield edges[at], edges[near]
            at = near


def even_groups(sizes: list[int], rooms: list[int], strength: list[int]) -> list[Range]:
    """The cheapest way to group atoms into blocks, as pairs of edge indices.

    `sizes` is the running size at each edge, `rooms[i]` what a block that starts at edge i may
    hold, `strength` the gap at each edge. A block costs the square of the share of its room
    that it leaves empty, what its last gap costs, and STRADDLE where it reaches over the edge of
    an element to cut another one short. Dynamic programming over the last block (Knuth and
    Plass, 1981, for lines of text). Blocks that fill less than LEAST of their room are not tried
    where others are possible: no better gap is worth so much.
    """
    last = len(sizes) - 1
    share = [1.0 / room for room in rooms]
    total = [0.0] * (last + 1)
    back = [0] * (last + 1)
    low = high = strong = 0
    for j in range(1, last + 1):
        size = sizes[j]
        while low < j - 1 and size - sizes[low] > rooms[low]:
            low += 1
        while high < j - 1 and size - sizes[high + 1] >= rooms[high + 1] * LEAST:
            high += 1
        if strength[j - 1] >= gaps.HEADING_LIKE_LINE and j > 1:
            strong = j - 1
        cut_short = strength[j] < gaps.HEADING_LIKE_LINE
        best, choice = _NEVER, j - 1
        # The best start never moves back as the end moves on (a convex cost is Monge).
        for i in range(max(low, back[j - 1]), j if j == last else max(high, low) + 1):
            empty = 1.0 - (size - sizes[i]) * share[i]
            if empty < 0.0 and i < j - 1:
                continue
            cost = total[i] + empty * empty
            if i < strong and (cut_short or strength[i] < gaps.HEADING_LIKE_LINE):
                cost += STRADDLE
            if cost < best:
                best, choice = cost, i
        total[j] = best + _GAP_COST[strength[j]]
        back[j] = choice
    groups: list[Range] = []
    at = last
    while at:
        groups.append((back[at], at))
        at = back[at]
    return groups[::-1]
