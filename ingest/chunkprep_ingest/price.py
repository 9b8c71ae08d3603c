"""What a chunk costs: sums where the tokenizer must split, fresh counts only elsewhere.

A block is header + lead + text + trail + delimiter. Inside, the pieces' counts add up from the
first seam on; the first and the last word are counted with what stands before and behind them.
A gap inside an unbroken run (`loose`) breaks the sum: behind it the text so far is counted once,
and adding goes on from the next seam.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from chunkprep_ingest.counting import Counter, follows_line, seam_after, seam_before
from chunkprep_ingest.labels import Header
from chunkprep_ingest.measure import Measured
from chunkprep_ingest.model import Boundary
from chunkprep_ingest.pieces import Pieces
from chunkprep_ingest.profile import Profile

Priced = tuple[int, tuple[Boundary, ...]]
"""Tokens of the whole block, and its boundaries with theirs."""


class Run(NamedTuple):
    """Pieces [first, last) whose text is document text[start:end], and what is put around it."""

    first: int
    last: int
    start: int
    end: int
    header: Header
    lead: str
    trail: str


class Prices:
    """Prices runs of one document's pieces in one profile."""

    def __init__(
        self, pieces: Pieces, measured: Measured, profile: Profile, counter: Counter, cap: int
    ) -> None:
        self.pieces = pieces
        self.text = pieces.text
        self.before = measured.before
        self.measured = measured
        self.profile = profile
        self.delimiter = profile.template.delimiter
        self.count = counter.count
        self.cap = cap
        self.odd = sorted([*measured.loose, *measured.seam])
        self._leads: dict[str, int] = {"": 0}
        self._closings: dict[tuple[str, str, str], int] = {}

    def of(self, run: Run) -> Priced:
        """The exact price of a run's block and of each place where it may be cut."""
        if not self.profile.seams:
            return self._each(run)
        if self._breaks(run.first, run.last, run.start):
            return self._piecewise(run)
        closing, front = self._closing(run), self._front(run)
        if closing is None or front is None:
            return self._fresh(run), ()
        base = front - self.before[run.first]
        block = base + self.before[run.last] + closing
        return block, self._boundaries(run, base, min(block, self.cap))

    def lead(self, lead: str) -> int:
        """Tokens of a repeated table header or code fence, counted once."""
        cost = self._leads.get(lead)
        if cost is None:
            cost = self._leads[lead] = self.count(lead)
        return cost

    def _fresh(self, run: Run) -> int:
        text = self.text[run.start : run.end]
        return self.block(run.header.text + run.lead + text + run.trail)

    def block(self, dressed: str) -> int:
        """The price of a block whose header and text are `dressed`, counted afresh."""
        return self.count(dressed + self.delimiter) + self.profile.margin

    def _each(self, run: Run) -> Priced:
        """Everything counted afresh, for encodings without seams."""
        template, kinds = self.profile.template, self.pieces.kind
        text = run.lead + self.text[run.start : run.end] + run.trail
        block = self.block(run.header.text + text)
        most = min(block, self.cap)
        found = [
            Boundary(offset, kind, cost)
            for k in range(run.first + 1, run.last)
            if (kind := kinds[k]) is not None
            and (offset := self.pieces.start[k] - run.start + len(run.lead)) > 0
            and (cost := self.block(run.header.text + template.cut(text, offset))) < most
        ]
        return block, tuple(found)

    def _breaks(self, first: int, last: int, start: int) -> bool:
        """Whether a gap at an end or inside has no seam near, or one inside none behind `start`."""
        odd = self.odd
        at = bisect_left(odd, first)
        if at == len(odd) or odd[at] > last:
            return False
        loose = self.measured.loose
        return (
            first in loose
            or last in loose
            or any(self._is_loose(k, start) for k in range(first + 1, last))
        )

    def _is_loose(self, gap: int, start: int) -> bool:
        measured = self.measured
        return gap in measured.loose or measured.seam.get(gap, start) < start

    # -- the sum ----------------------------------------------------------------------------

    def _boundaries(self, run: Run, base: int, most: int) -> tuple[Boundary, ...]:
        """The gaps where the block may be cut for less than `most`; `base` is what stands before
        the first piece, less the pieces before it.
        """
        pieces, text, origin = self.pieces, self.text, run.start - len(run.lead)
        inside = slice(run.first + 1, run.last)
        gaps = zip(pieces.start[inside], pieces.kind[inside], self.before[inside], strict=True)
        line = base + self.profile.line_marker_tokens
        space = base + self.profile.space_marker_tokens
        made = tuple.__new__  # a NamedTuple without its constructor's cost
        return tuple(
            [
                made(Boundary, (at - origin, kind, cost))
                for at, kind, before in gaps
                if kind is not None
                and (cost := before + (line if text[at - 1] == "\n" else space)) < most
            ]
        )

    def _front(self, run: Run) -> int | None:
        """Header, lead, and what the first word costs more or less behind them than it does in
        the document; None where that word is all there is.
        """
        text, measured, count = self.text, self.measured, self.count
        at = self.pieces.start[run.first]
        if run.start == at and run.first not in measured.seam and follows_line(text, at):
            return run.header.tokens + self.lead(run.lead)
        stop = self.pieces.start[run.first + 1] if run.first + 1 < run.last else run.end
        head = seam_after(text, run.start, stop)
        if head == run.end:
            return None
        seam = measured.seam.get(run.first, at)
        in_document = count(text[seam:head]) - (count(text[seam:at]) if seam < at else 0)
        return count(run.header.text + run.lead + text[run.start : head]) - in_document

    def _closing(self, run: Run) -> int | None:
        """What closes the block, less what stands behind the last word in the document; None
        where the text is one unbroken run, for which a fresh count is as cheap.
        """
        text, pieces, end = self.text, self.pieces, run.end
        joiner = text[end : pieces.start[run.last] if run.last < len(pieces) else pieces.end]
        closing = run.trail + self.delimiter
        if joiner and closing.startswith(joiner) and follows_line(closing, len(joiner)):
            word = ""  # the same line breaks as in the document: nothing changes before them
        elif not joiner and closing[0] == "\n" and text[end - 1].isalnum():
            word = ""  # no token holds a letter or digit and the line break behind it
        else:
            at = seam_before(text, end, run.start)
            if at == run.start:
                return None
            word = text[at:end]
        key = word, joiner, closing
        cost = self._closings.get(key)
        if cost is None:
            whole = word + closing if word else closing[len(joiner) :]
            cost = self._closings[key] = self.count(whole) - self.count(word and word + joiner)
        return cost

    # -- runs with loose gaps ---------------------------------------------------------------

    def _piecewise(self, run: Run) -> Priced:
        """The block counted whole; boundaries from sums that start again behind loose gaps."""
        block = self._fresh(run)
        most = min(block, self.cap)
        found = [
            Boundary(offset, kind, cost)
            for k, prefix in self._prefixes(run)
            if (kind := self.pieces.kind[k]) is not None
            and (offset := self.pieces.start[k] - run.start + len(run.lead)) > 0
            and (cost := prefix + self._marker(self.pieces.start[k])) < most
        ]
        return block, tuple(found)

    def _marker(self, at: int) -> int:
        profile = self.profile
        after_line = self.text[at - 1] == "\n"
        return profile.line_marker_tokens if after_line else profile.space_marker_tokens

    def _prefixes(self, run: Run) -> Iterator[tuple[int, int]]:
        """Each gap inside that is a seam, or at which a marker is, and the tokens before it."""
        base: int | None = None
        for k in range(run.first + 1, run.last):
            at = self.pieces.start[k]
            if self._is_loose(k, run.start):
                base = None
                if self.pieces.kind[k] is not None and at > run.start:
                    yield k, self._prefix(run, at)
                continue
            if base is None and at > run.start:
                base = self._prefix(run, at) - self.before[k]
            if base is not None:
                yield k, base + self.before[k]

    def _prefix(self, run: Run, at: int) -> int:
        return self.count(run.header.text + run.lead + self.text[run.start : at])
