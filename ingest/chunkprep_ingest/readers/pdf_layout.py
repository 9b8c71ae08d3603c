"""Paragraphs, headings and list items from the lines of a PDF: decisions over plain values."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chunkprep_ingest.readers.pdf_lines import Line
from chunkprep_ingest.readers.writing import Found

_BULLET = re.compile(r"(?:([•◦▪▫‣⁃●○■□–—*\-])|(\(?(?:\d{1,3}|[A-Za-z])[.)]))\s+(?=\S)")
_SENTENCE_END = tuple('.!?:;。！？…"”’)')
_LARGER = 1.12  # times the body's size: a heading
_ALIKE = 0.1  # of the font's size: words in another font make no other paragraph
_LOOSER = 1.25  # times the usual distance of two lines: a new paragraph
_INDENT = 0.8  # of the font's size: a new paragraph
_WIDEST_LEADING = 2.2  # times the font's size; lines farther apart never belong together
_TITLE_CHARACTERS = 200
_TITLE_LINES = 3
_BOLD_TITLE_CHARACTERS = 120
_LEVELS = 6
_MARGIN = 0.08  # of the page's height: where headers and footers stand
_RUNNING_PAGES = 3

Block = list[Line]


def find_blocks(lines: Sequence[Line]) -> list[Found]:
    """What the lines make up, in their order."""
    if not lines:
        return []
    body = _body_size(lines)
    blocks = list(_joined(_grouped(lines, _leadings(lines)), body))
    levels = _levels(blocks, body)
    return [_found(block, levels, body) for block in blocks]


def running_lines(lines: Sequence[Line]) -> list[Line]:
    """Page headers and footers: lines at the edge that come again, their numbers aside."""
    pages = len({line.page for line in lines})
    edge = [line for line in lines if _at_edge(line)]
    seen: dict[str, set[int]] = defaultdict(set)
    for line in edge:
        seen[_without_numbers(line)].add(line.page)
    enough = max(_RUNNING_PAGES, pages // 2)
    return [line for line in edge if len(seen[_without_numbers(line)]) >= enough]


def without(lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    """The lines that are not among the others."""
    gone = set(others)
    return [line for line in lines if line not in gone]


def with_running(found: Sequence[Found], running: Sequence[Line]) -> Iterator[Found]:
    """The blocks, with page headers and footers after what starts on their page.

    There they do not tear a paragraph that goes on over the page break.
    """
    waiting = deque(running)
    for block in found:
        while waiting and waiting[0].page < (block.page or 0):
            yield _as_paragraph(waiting.popleft())
        yield block
    yield from map(_as_paragraph, waiting)


def _as_paragraph(line: Line) -> Found:
    return Found("paragraph", line.text, 0, line.page)


def _at_edge(line: Line) -> bool:
    margin = line.height * _MARGIN
    return line.baseline < margin or line.baseline > line.height - margin


def _without_numbers(line: Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _body_size(lines: Sequence[Line]) -> float:
    characters: Counter[float] = Counter()
    for line in lines:
        characters[line.size] += len(line.text)
    return characters.most_common(1)[0][0]


def _leadings(lines: Sequence[Line]) -> dict[float, float]:
    """The distance of two lines of one paragraph, by font size: a low one among those seen."""
    gaps: dict[float, list[float]] = defaultdict(list)
    for above, line in pairwise(lines):
        gap = above.baseline - line.baseline
        if above.page == line.page and above.size == line.size and gap > line.size * 0.5:
            gaps[line.size].append(gap)
    return {
        size: min(sorted(found)[len(found) // 5], size * _WIDEST_LEADING)
        for size, found in gaps.items()
    }


def _grouped(lines: Sequence[Line], leadings: dict[float, float]) -> Iterator[Block]:
    block: Block = []
    for line in lines:
        if block and not _continues(block, line, leadings):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _continues(block: Block, line: Line, leadings: dict[float, float]) -> bool:
    """Whether the line belongs to the paragraph that the block has so far."""
    above = block[-1]
    if above.page != line.page or above.bold != line.bold or not _alike(above, line):
        return False
    if _BULLET.match(line.text):
        return False
    gap = above.baseline - line.baseline
    usual = leadings.get(line.size, line.size * 1.2)
    if abs(gap) < line.size * 0.5:  # the same line, drawn in two pieces
        return True
    if gap < 0:  # the next column
        return not above.text.endswith(_SENTENCE_END)
    if gap > usual * _LOOSER:
        return False
    if above.hyphenated:
        return True
    shift = line.left - above.left
    indent = line.size * _INDENT
    if _BULLET.match(block[0].text):
        return line.left > block[0].left - indent
    if shift > indent:
        return False
    return shift >= -indent or len(block) == 1


def _alike(above: Line, line: Line) -> bool:
    return abs(above.size - line.size) <= _ALIKE * max(above.size, line.size)


def _joined(blocks: Iterator[Block], body: float) -> Iterator[Block]:
    """Paragraphs that a page break cut are whole again."""
    last: Block = []
    for block in blocks:
        if last and _goes_on(last[-1], block[0], body):
            last = last + block
            continue
        if last:
            yield last
        last = block
    if last:
        yield last


def _goes_on(last: Line, line: Line, body: float) -> bool:
    return (
        last.page + 1 == line.page
        and last.size == line.size == body
        and last.bold == line.bold
        and (last.hyphenated or not last.text.endswith(_SENTENCE_END))
        and line.text[:1].islower()
    )


def _levels(blocks: Sequence[Block], body: float) -> dict[float, int]:
    """Heading level by font size, the largest first."""
    sizes = {block[0].size for block in blocks if _is_large(block, body)}
    return {
        size: min(level, _LEVELS) for level, size in enumerate(sorted(sizes, reverse=True), start=1)
    }


def _is_large(block: Block, body: float) -> bool:
    text = _text(block)
    return (
        block[0].size >= body * _LARGER
        and len(block) <= _TITLE_LINES
        and len(text) <= _TITLE_CHARACTERS
        and any(c.isalnum() for c in text)
    )


def _is_bold_title(block: Block) -> bool:
    text = _text(block)
    return (
        block[0].bold
        and len(block) == 1
        and len(text) <= _BOLD_TITLE_CHARACTERS
        and not text.endswith((".", ",", ";", ":"))
        and any(c.isalpha() for c in text)
    )


def _found(block: Block, levels: dict[float, int], body: float) -> Found:
    text, page = _text(block), block[0].page
    if _is_large(block, body):
        return Found("title", text, levels[block[0].size], page)
    if block[0].size >= body and _is_bold_title(block):
        return Found("title", text, min(len(levels) + 1, _LEVELS), page)
    bullet = _BULLET.match(text)
    if bullet:
        return Found("list_item", text[bullet.end() :], 0, page, bullet.group(2) or "-")
    return Found("paragraph", text, 0, page)


def _text(block: Block) -> str:
    """The lines as one, words that were broken at a line's end whole again."""
    pieces: list[str] = []
    for line in block:
        pieces.append(line.text)
        pieces.append("" if line.hyphenated else " ")
    return "".join(pieces).strip()
