"""From elements to priced chunks: the whole way through the pure core.

Pieces are made and counted (pieces, measure), grouped (divide), and dressed and priced here.
Every price is exact: sums where the tokenizer must split, a fresh count elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.divide import Divider, Range
from chunkprep_ingest.errors import IndivisibleError
from chunkprep_ingest.finecuts import cluster_edge, is_edge
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.labels import Header, Headers
from chunkprep_ingest.measure import measure
from chunkprep_ingest.model import (
    Chunk,
    ChunkKind,
    Element,
    ParsedDocument,
    Span,
    Substitution,
)
from chunkprep_ingest.pieces import make_pieces
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.price import Priced, Prices, Run
from chunkprep_ingest.profile import Profile, check_policy
from chunkprep_ingest.records import render_records
from chunkprep_ingest.rooms import Room
from chunkprep_ingest.template import neutralise, restore

HEADER_WARNING = "table_header: "
"""How the warning starts that a table's header is not repeated."""

_NAMED = 60  # characters of a header that a warning shows
_SLACK = 2  # tokens that the first and last word of a chunk may cost more than in the document


class Split(NamedTuple):
    """The chunks of a document, and warnings about them."""

    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...]


def split(
    parsed: ParsedDocument, title: str, policy: Policy, profile: Profile, counter: RunningCounter
) -> tuple[Chunk, ...]:
    """The document's chunks in order: each block at most `policy.cap` tokens, priced exactly.

    Raises IndivisibleError where one grapheme cluster does not fit a block, PolicyError where
    the cap is too small for the template.
    """
    return split_document(parsed, title, policy, profile, counter).chunks


def split_document(
    parsed: ParsedDocument, title: str, policy: Policy, profile: Profile, counter: RunningCounter
) -> Split:
    """Like `split`, and what there is to say about it."""
    check_policy(policy, profile)
    if not parsed.elements:
        return Split((), ())
    return _Splitter(parsed, title, policy, profile, counter).split()


class _Splitter:
    """One document on its way: the values that pricing a chunk needs."""

    def __init__(
        self,
        parsed: ParsedDocument,
        title: str,
        policy: Policy,
        profile: Profile,
        counter: RunningCounter,
    ) -> None:
        self.template = profile.template
        self.profile = profile
        self.counter = counter
        self.policy = policy
        self.text, self.substitutions = neutralise(profile.template, parsed.text)
        share = int(policy.cap * policy.header_share)
        self.headers = Headers(
            self.template, counter, title, max(share, profile.shortest_header_tokens)
        )
        spent = self.headers.limit + profile.delimiter_tokens + _SLACK
        self.least_room = max(1, policy.cap - spent)
        running = counter.running(self.text)
        rendered = render_records(
            parsed.text, parsed.elements, self.least_room, self.headers.limit, running
        )
        if rendered.records:
            self.text, self.substitutions = neutralise(profile.template, rendered.text)
            running = counter.running(self.text)
        self.rendered = rendered._replace(text=self.text)
        self.pieces = make_pieces(self.rendered, self.least_room, running)
        self.measured = measure(self.pieces, running, counter, profile.seams)
        self.prices = Prices(self.pieces, self.measured, profile, counter, policy.cap)
        self.ascii = self.text.isascii()
        self.has_blocks = any(e.kind in ("table", "code") for e in parsed.elements)
        self.chunks: list[Chunk] = []
        self.unrepeated: dict[str, None] = {}

    def split(self) -> Split:
        policy = self.policy
        spent = self.profile.delimiter_tokens + _SLACK
        room = Room(self.pieces, self.headers, self.prices, policy.cap - spent)
        capped = policy.target_tokens == policy.cap
        target = room
        if not capped:
            target = Room(self.pieces, self.headers, self.prices, policy.target_tokens - spent)
        divider = Divider(
            self.measured.before,
            self.pieces.strength,
            room,
            target,
            target.of_all,
            max(1, self.least_room - policy.cap + policy.target_tokens),
            policy.minimum_tokens,
            policy.span_sections,
        )
        for first, last in divider.divide(0, len(self.pieces)):
            self._emit(first, last)
        return Split(tuple(self.chunks), self._warnings())

    def _warnings(self) -> tuple[str, ...]:
        if not self.unrepeated:
            return ()
        named = next(iter(self.unrepeated)).strip()[:_NAMED]
        return (
            f"{HEADER_WARNING}{len(self.unrepeated)} too long to repeat, in the first part of the "
            f"table only; raise the cap above {self.policy.cap}, or shorten it: {named}",
        )

    def _emit(self, first: int, last: int) -> None:
        """Price the pieces as one chunk; where that is over the cap after all, part them."""
        while first < last and self._is_blank(first):
            first += 1  # white space so long that it was parted from the words around it
        if first == last:
            return
        start, end = self._body(first, last)
        chunk = self._chunk(first, last, start, end)
        if chunk.block_tokens <= self.policy.cap:
            self.chunks.append(chunk)
        elif last - first > 1:
            middle = self._middle(first, last)
            self._emit(first, middle)
            self._emit(middle, last)
        else:
            self._part(first, start, end)

    def _is_blank(self, piece: int) -> bool:
        starts = self.pieces.start
        stop = starts[piece + 1] if piece + 1 < len(starts) else self.pieces.end
        return self.text[starts[piece] : stop].isspace()

    def _middle(self, first: int, last: int) -> int:
        """The strongest gap inside, the one nearest the middle where several are."""
        before, strength = self.measured.before, self.pieces.strength
        half = (before[first] + before[last]) / 2
        inside = range(first + 1, last)
        return max(inside, key=lambda k: (strength[k], -abs(before[k] - half)))

    def _body(self, first: int, last: int) -> Range:
        """Where the text of these pieces starts and ends: blank lines around it go, and blanks
        at a cut inside a line; a line's indentation stays.
        """
        text, pieces = self.text, self.pieces
        start = pieces.start[first]
        end = pieces.start[last] if last < len(pieces) else pieces.end
        body = text[start:end]
        bare = body.lstrip()
        at = end - len(bare)
        if start and text[start - 1] != "\n" and first:
            start = at if self.ascii or is_edge(text, at) else max(start, at - 1)
        else:
            start = max(start, text.rfind("\n", start, at) + 1)
        return start, end - (len(body) - len(body.rstrip()))

    def _chunk(self, first: int, last: int, start: int, end: int) -> Chunk:
        lead = self.pieces.lead.get(first, "")
        if lead and self.prices.lead(lead) > self.headers.limit:
            self.unrepeated[lead] = None
            lead = ""  # a repeated header that long would leave no room for rows
        trail = self.pieces.trail.get(last, "")
        path = self._path(first, last)
        header = self._header(first, path)
        run = Run(first, last, start, end, header, lead, trail)
        return self._dressed(run, path, self.prices.of(run))

    def _dressed(self, run: Run, path: tuple[str, ...], prices: Priced) -> Chunk:
        first, last, start, end, header, lead, trail = run
        text = lead + self.text[start:end] + trail
        kind = self._kind(first, last, start, end)
        substitutions = self._substituted(start, end, len(lead))
        additions = [Span(0, len(lead))] if lead else []
        additions += [Span(s.offset + len(lead), s.length) for s in self.rendered.added(start, end)]
        if trail:
            additions.append(Span(len(text) - len(trail), len(trail)))
        place = self.rendered.in_document(start, end)
        return Chunk(
            ordinal=len(self.chunks),
            start=place[0],
            end=place[1],
            text=text,
            header=header.text,
            heading_path=path,
            kind=kind,
            truncatable=kind == "prose",
            page=self.pieces.elements[self.pieces.element[first]].page,
            block_tokens=prices[0],
            header_tokens=header.tokens,
            delimiter_tokens=self.profile.delimiter_tokens,
            boundaries=prices[1],
            content_hash=text_hash(restore(text, substitutions) if substitutions else text),
            additions=tuple(additions),
            substitutions=substitutions,
            rendering="records" if self.rendered.has_record(start, end) else "verbatim",
        )

    def _part(self, piece: int, start: int, end: int) -> None:
        """Chunks of one piece that does not fit a block: parted between words where it can be,
        between grapheme clusters elsewhere, each counted afresh.
        """
        text = self.text
        path = self._path(piece, piece + 1)
        header = self._header(piece, path)
        room = self.policy.cap
        while start < end:
            size, stop = end - start, end
            while self._block(header, start, stop) > room:
                size = size * 3 // 4
                shorter = cluster_edge(text, start, start + max(1, size), end)
                if shorter == stop or not size:
                    raise IndivisibleError(
                        "indivisible",
                        f"{text[start:stop][:20]!r} at character "
                        f"{self.rendered.in_document(start, stop)[0]} costs "
                        f"{self._block(header, start, stop)} tokens as a block; the cap is {room}",
                    )
                stop = shorter
            word = max(text.rfind(" ", start + 1, stop), text.rfind("\n", start + 1, stop))
            if start < word and stop < end and text[start:word].strip() and is_edge(text, word):
                stop = word
            self._append_part(piece, start, stop, header, path)
            start = stop
            behind = start + len(text[start:end]) - len(text[start:end].lstrip())
            if is_edge(text, start):
                start = behind

    def _block(self, header: Header, start: int, stop: int) -> int:
        body = self.text[start:stop].rstrip()
        return self.prices.block(header.text + body)

    def _append_part(
        self, piece: int, start: int, stop: int, header: Header, path: tuple[str, ...]
    ) -> None:
        stop = start + len(self.text[start:stop].rstrip())
        if start < stop:
            run = Run(piece, piece + 1, start, stop, header, "", "")
            block = self._block(header, start, stop)
            self.chunks.append(self._dressed(run, path, (block, ())))

    # -- what a chunk says of itself --------------------------------------------------------

    def _header(self, first: int, path: tuple[str, ...]) -> Header:
        """The header for a path: it leaves out a heading that the text itself opens with."""
        pieces = self.pieces
        if path and pieces.elements[pieces.element[first]].kind == "title":
            section = pieces.section(first)
            if section.first_piece == first and section.path == path:
                return self.headers.of(path[:-1])
        return self.headers.of(path)

    def _path(self, first: int, last: int) -> tuple[str, ...]:
        """The headings that all pieces share."""
        pieces = self.pieces
        low = pieces.section_of[pieces.element[first]]
        high = pieces.section_of[pieces.element[last - 1]]
        path = pieces.sections[low].path
        for section in pieces.sections[low + 1 : high + 1]:
            other = section.path
            common = 0
            while common < len(path) and common < len(other) and path[common] == other[common]:
                common += 1
            path = path[:common]
        return path

    def _kind(self, first: int, last: int, start: int, end: int) -> ChunkKind:
        """Table or code where more than half of the characters are, else prose."""
        pieces = self.pieces
        if not self.has_blocks:
            return "prose"
        stop = pieces.element[last] + 1 if last < len(pieces) else len(pieces.elements)
        elements = pieces.elements[pieces.element[first] : stop]
        for kind in ("table", "code"):
            share = sum(_overlap(e, start, end) for e in elements if e.kind == kind)
            if share * 2 > end - start:
                return kind
        return "prose"

    def _substituted(self, start: int, end: int, shift: int) -> tuple[Substitution, ...]:
        """The document's substitutions that fall into this chunk, at the chunk's own offsets."""
        if not self.substitutions:
            return ()
        low = bisect_left(self.substitutions, (start, ""))
        high = bisect_left(self.substitutions, (end, ""))
        return tuple(
            Substitution(s.offset - start + shift, s.original) for s in self.substitutions[low:high]
        )


def _overlap(element: Element, start: int, end: int) -> int:
    """Characters of [start, end) that belong to the element."""
    return max(0, min(element.end, end) - max(element.start, start))
