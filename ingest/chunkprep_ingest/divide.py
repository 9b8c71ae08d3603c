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

_SLACK = 0.2  # how far from the even size a cut may lie for the sake of a stronger gap


class Divider:
    """Divides pieces into ranges that cost at most the room of their first piece.

    `before[k]` is the cost in tokens of all pieces before k (len(pieces) + 1 entries), `room(k)`
    what a block that starts at piece k leaves for text under the cap, `target(k)` what even
    sizes aim for at most. `least` is the smallest target there is: up to there nobody asks.
    """

    def __init__(
        self,
        before: Sequence[int],
        strength: list[int],
        room: Callable[[int], int],
        target: Callable[[int], int],
        least: int,
        minimum: int,
        span_sections: bool,
    ) -> None:
        self.before = before
        self.strength = strength
        self.room = room
        self.target = target
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
        self._open(first, last, edges)
        return edges

    def _open(self, first: int, last: int, edges: list[int]) -> None:
        if last - first < 2:
            edges.append(last)
            return
        strongest = max(self.strength[first + 1 : last])
        if strongest < gaps.ELEMENT_EDGE and self._size(first, last) <= self.room(first):
            edges.append(last)
            return
        for a, b in pairwise(self._edges(first, last, strongest)):
            self._open(a, b, edges)

    def _even(self, edges: list[int]) -> Iterator[Range]:
        """Group the runs between edges evenly, cutting at strong gaps near the even size."""
        sizes = [self.before[k] for k in edges]
        at, end = 0, len(edges) - 1
        while at < end:
            first = edges[at]
            total = sizes[end] - sizes[at]
            room = self.target(first)
            if total <= room:
                yield first, edges[end]
                return
            even = total / -(-total // max(room, 1))
            at = self._best(edges, sizes, at, even, max(room, 1))
            yield first, edges[at]

    def _best(self, edges: list[int], sizes: list[int], at: int, even: float, room: int) -> int:
        """The index of the edge to cut at: the strongest near the even size, else the nearest."""
        base = sizes[at]
        far = max(at + 1, bisect_right(sizes, base + room) - 1)
        low = max(at + 1, bisect_left(sizes, base + even * (1 - _SLACK)))
        high = min(far, bisect_right(sizes, base + even * (1 + _SLACK)) - 1)
        if low > high:
            low = max(at + 1, min(far, bisect_left(sizes, base + even) - 1))
            high = min(far, low + 1)
        wanted = base + even
        strength = self.strength
        last = len(edges) - 1
        return max(
            range(low, high + 1),
            key=lambda j: (
                gaps.TOP_HEADING if j == last else strength[edges[j]],
                -abs(sizes[j] - wanted),
            ),
        )
