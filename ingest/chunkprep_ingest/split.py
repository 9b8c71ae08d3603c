"""From elements to priced chunks: the whole way through the pure core.

Pieces are made and counted (pieces, measure), grouped (divide), and dressed and priced here.
Every price is exact: sums where the tokenizer must split, a fresh count elsewhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from chunkprep_ingest.alone import edges_around
from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.divide import Divider, Range
from chunkprep_ingest.dress import Dresser
from chunkprep_ingest.errors import IndivisibleError
from chunkprep_ingest.finecuts import cluster_edge, is_edge
from chunkprep_ingest.labels import Header, Headers
from chunkprep_ingest.measure import measure
from chunkprep_ingest.model import (
    Chunk,
    ParsedDocument,
)
from chunkprep_ingest.pieces import make_pieces
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.price import Prices, Run
from chunkprep_ingest.profile import Profile, check_policy
from chunkprep_ingest.records import Rendered, render_records
from chunkprep_ingest.rooms import Room
from chunkprep_ingest.template import neutralise

HEADER_WARNING = "table_header: "
"""How the warning starts that a table's header is not repeated."""

_NAMED = 60  # characters of a header that a warning shows
_SLACK = 2  # tokens that the first and last word of a chunk may cost more than in the document


class Split(NamedTuple):
    """The chunks of a document, and warnings about them."""

    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...]


def split(
    parsed: ParsedDocument,
    title: str,
    policy: Policy,
    profile: Profile,
    counter: RunningCounter,
    date: str | None = None,
) -> tuple[Chunk, ...]:
    """The document's chunks in order: each block at most `policy.cap` tokens, priced exactly.

    `title` and, where the policy shows it, `date` stand in every header. Raises IndivisibleError
    where one grapheme cluster does not fit a block, PolicyError where the cap is too small for
    the template.
    """
    return split_document(parsed, title, policy, profile, counter, date).chunks


def split_document(
    parsed: ParsedDocument,
    title: str,
    policy: Policy,
    profile: Profile,
    counter: RunningCounter,
    date: str | None = None,
) -> Split:
    """Like `split`, and what there is to say about it."""
    check_policy(policy, profile)
    if not parsed.elements:
        return Split((), ())
    return _Splitter(parsed, title, policy, profile, counter, date).split()


class _Splitter:
    """One document on its way: the values that pricing a chunk needs."""

    def __init__(
        self,
        parsed: ParsedDocument,
        title: str,
        policy: Policy,
        profile: Profile,
        counter: RunningCounter,
        date: str | None,
    ) -> None:
        self.template = profile.template
        self.profile = profile
        self.counter = counter
        self.policy = policy
        self.text, self.substitutions = neutralise(profile.template, parsed.text)
        share = int(policy.cap * policy.header_share)
        self.headers = Headers(
            self.template,
            counter,
            title,
            max(share, profile.shortest_header_tokens),
            date if "date" in policy.header_fields else None,
            pages="page" in policy.header_fields,
        )
        spent = self.headers.limit + profile.delimiter_tokens + _SLACK
        self.least_room = max(1, policy.cap - spent)
        running = counter.running(self.text)
        rendered = Rendered(parsed.text, parsed.elements)
        if policy.wide_rows == "records":
            rendered = render_records(
                parsed.text,
                parsed.elements,
                self.least_room,
                self.headers.limit,
                running,
                repeat_header=policy.repeat_table_header,
            )
        if rendered.records:
            self.text, self.substitutions = neutralise(profile.template, rendered.text)
            running = counter.running(self.text)
        self.rendered = rendered._replace(text=self.text)
        self.source = parsed.elements
        self.pieces = make_pieces(
            self.rendered,
            self.least_room,
            running,
            repeat_header=policy.repeat_table_header,
            reopen_fences=policy.reopen_code_fences,
        )
        self.measured = measure(self.pieces, running, counter, profile.seams)
        self.prices = Prices(self.pieces, self.measured, profile, counter, policy.cap)
        self.ascii = self.text.isascii()
        self.dresser = Dresser(
            self.pieces, self.rendered, self.substitutions, self.headers, profile.delimiter_tokens
        )
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
        edges = edges_around(self.pieces, self.rendered, self.source, policy.alone)
        for part in pairwise(edges):
            for first, last in divider.divide(*part):
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
        path = self.dresser.path(first, last)
        header = self.dresser.header(first, path)
        run = Run(first, last, start, end, header, lead, trail)
        return self.dresser.chunk(len(self.chunks), run, path, self.prices.of(run))

    def _part(self, piece: int, start: int, end: int) -> None:
        """Chunks of one piece that does not fit a block: parted between words where it can be,
        between grapheme clusters elsewhere, each counted afresh.
        """
        text = self.text
        path = self.dresser.path(piece, piece + 1)
        header = self.dresser.header(piece, path)
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
            self.chunks.append(self.dresser.chunk(len(self.chunks), run, path, (block, ())))
