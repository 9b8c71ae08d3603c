"""What a chunk says of itself besides its price: header, heading path, kind, additions."""

from __future__ import annotations

from bisect import bisect_left

from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.labels import Header, Headers
from chunkprep_ingest.model import Chunk, ChunkKind, Element, Span, Substitution
from chunkprep_ingest.pieces import Pieces
from chunkprep_ingest.price import Priced, Run
from chunkprep_ingest.records import Rendered
from chunkprep_ingest.template import restore


class Dresser:
    """Makes chunks of priced runs of one document's pieces.

    `rendered` is the text that the pieces are of, with `substitutions` made in it.
    """

    def __init__(
        self,
        pieces: Pieces,
        rendered: Rendered,
        substitutions: tuple[Substitution, ...],
        headers: Headers,
        delimiter_tokens: int,
    ) -> None:
        self.pieces = pieces
        self.text = rendered.text
        self.rendered = rendered
        self.substitutions = substitutions
        self.headers = headers
        self.delimiter_tokens = delimiter_tokens
        self.blocks = [n for n, e in enumerate(rendered.elements) if e.kind in ("table", "code")]
        """Which elements are tables or code."""

    def chunk(self, ordinal: int, run: Run, path: tuple[str, ...], prices: Priced) -> Chunk:
        """The chunk of a run with this heading path and these prices."""
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
            ordinal=ordinal,
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
            delimiter_tokens=self.delimiter_tokens,
            boundaries=prices[1],
            content_hash=text_hash(restore(text, substitutions) if substitutions else text),
            additions=tuple(additions),
            substitutions=substitutions,
            rendering="records" if self.rendered.has_record(start, end) else "verbatim",
        )

    def header(self, first: int, path: tuple[str, ...]) -> Header:
        """The header for a path: it leaves out a heading that the text itself opens with."""
        pieces = self.pieces
        element = pieces.elements[pieces.element[first]]
        if path and element.kind == "title":
            section = pieces.section(first)
            if section.first_piece == first and section.path == path:
                path = path[:-1]
        return self.headers.of(path, element.page)

    def path(self, first: int, last: int) -> tuple[str, ...]:
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
        stop = pieces.element[last] + 1 if last < len(pieces) else len(pieces.elements)
        low = bisect_left(self.blocks, pieces.element[first])
        elements = [pieces.elements[n] for n in self.blocks[low : bisect_left(self.blocks, stop)]]
        if not elements:
            return "prose"
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
