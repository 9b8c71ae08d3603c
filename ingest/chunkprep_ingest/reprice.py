"""The price of a stored block under another profile, without splitting it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chunkprep_ingest.counting import Counter, follows_line, is_seam
from chunkprep_ingest.model import Boundary
from chunkprep_ingest.profile import Profile


class Repriced(NamedTuple):
    """A block's costs in tokens of the profile's encoding."""

    block_tokens: int
    header_tokens: int
    delimiter_tokens: int
    boundaries: tuple[Boundary, ...]


def reprice(
    header: str, text: str, boundaries: Iterable[Boundary], profile: Profile, counter: Counter
) -> Repriced:
    """What the block of `header` and `text` costs, whole and cut at each of `boundaries`.

    A boundary whose price reaches the whole block's is left out, as at ingestion.
    """
    template, count, margin = profile.template, counter.count, profile.margin
    block = count(header + text + template.delimiter) + margin
    header_tokens = count(header)
    kept = tuple(
        Boundary(boundary.offset, boundary.kind, cost)
        for boundary, cost in _cut_prices(header, text, boundaries, profile, counter)
        if cost < block
    )
    return Repriced(block, header_tokens, profile.delimiter_tokens, kept)


def _cut_prices(
    header: str, text: str, boundaries: Iterable[Boundary], profile: Profile, counter: Counter
) -> Iterable[tuple[Boundary, int]]:
    """Each boundary's price; what lies between two seams is counted once."""
    template, count = profile.template, counter.count
    at, prefix = 0, count(header)
    joined = profile.seams and follows_line(text, 0)
    for boundary in boundaries:
        offset = boundary.offset
        if not profile.seams:
            yield (
                boundary,
                count(header + template.cut(text, offset) + template.delimiter) + (profile.margin),
            )
            continue
        if joined:
            prefix += count(text[at:offset])
        else:
            prefix = count(header + text[:offset])
        at, joined = offset, is_seam(text, offset)
        after_line = text[offset - 1] == "\n"
        marker = profile.line_marker_tokens if after_line else profile.space_marker_tokens
        yield boundary, prefix + marker
