"""From blocks found in a source to elements over the text that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chunkprep_ingest.model import Element, ElementKind


class Block(NamedTuple):
    """Whole lines of the source with one role; offsets in bytes of UTF-8 or in characters.

    `kind` None marks lines that are left out of the text.
    """

    start: int
    end: int
    kind: ElementKind | None
    depth: int = 0


def to_characters(blocks: Sequence[Block], data: bytes) -> Iterable[Block]:
    """The same blocks with offsets in characters; they stand in order and do not overlap."""
    if data.isascii():
        return blocks
    return _converted(blocks, data)


def _converted(blocks: Sequence[Block], data: bytes) -> Iterable[Block]:
    byte = char = 0
    for start, end, kind, depth in blocks:
        char += len(data[byte:start].decode())
        first = char
        char += len(data[start:end].decode())
        byte = end
        yield Block(first, char, kind, depth)


def keep(source: str, blocks: Iterable[Block]) -> tuple[str, tuple[Element, ...]]:
    """The text without the blocks of kind None and the blank lines after them, and its elements.

    An element has no line break at its ends and keeps its indentation; blank ones are dropped.
    """
    pieces: list[str] = []
    elements: list[Element] = []
    add = elements.append
    copied = removed = 0
    for start, end, kind, depth in blocks:
        if kind is None:
            end = _next_line_with_text(source, end)
            pieces.append(source[copied:start])
            removed += end - start
            copied = end
            continue
        piece = source[start:end]
        bare = piece.rstrip()
        if not bare:
            continue
        if piece[0].isspace():
            start = _first_line_with_text(source, start, start + len(bare))
            end = start + len(source[start:end].rstrip())
        else:
            end = start + len(bare)
        add(Element(kind, start - removed, end - removed, depth))
    if not pieces:
        return source, tuple(elements)
    pieces.append(source[copied:])
    return "".join(pieces), tuple(elements)


def _first_line_with_text(source: str, start: int, end: int) -> int:
    text = source[start:end]
    lead = len(text) - len(text.lstrip())
    return start + text.rfind("\n", 0, lead) + 1


def _next_line_with_text(source: str, end: int) -> int:
    at = end
    while at < len(source) and source[at].isspace():
        at += 1
    if at == len(source):
        return at
    line = source.rfind("\n", 0, at) + 1
    return max(end, line)
