"""Cuts below the level of sentences and rows: lines, words, grapheme clusters.

Each function takes a run text[start:end] and gives the places strictly inside it where it may be
cut, ascending, each with its strength. Nothing here looks past the run.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import regex

from chunkprep_ingest import gaps

Cut = tuple[int, int]
"""(offset, strength)."""

_LINE_END = re.compile(r"\n(?=[ \t]*\S)")
_WHITE = re.compile(r"\s")
_NOT_WHITE = re.compile(r"\S")
_CLUSTER = regex.compile(r"\X")
_LONGEST_WHITE = 500  # a longer run of white space is parted from the words around it
_WHITE_PART = 1000  # and given to the tokenizer in parts: tiktoken panics on a million spaces
_ODD_TOKENS = 2  # that a part of an unbroken run may cost more by itself than inside it
_FIRST_MARK = "\u0300"  # no character below it joins the one before or behind it
_LAST_ASCII = "\x7f"
_LONGEST_CLUSTER = 128  # characters looked at to find where a grapheme cluster ends


def word_cuts(
    text: str, start: int, end: int, size: int, room: int, running: Sequence[int]
) -> list[Cut]:
    """Cuts about every `size` characters: behind a line break where one is near, else between
    words, else inside a word that does not fit `room` tokens by itself; `running` is the text's
    running count (`RunningCounter.running`).
    """
    cuts: list[Cut] = []
    at = start
    while end - at > size:
        cut = _next_cut(text, at, end, size)
        if cut is None:
            break
        if cut[0] - at > 4 * size:
            cuts.extend(_inside(text, at, cut[0], room, running))
        if is_edge(text, cut[0]):
            cuts.append(cut)
        at = cut[0]
    if end - at > 4 * size:
        cuts.extend(_inside(text, at, end, room, running))
    return cuts


def _next_cut(text: str, at: int, end: int, size: int) -> Cut | None:
    """The first good cut at least `size` characters behind `at`."""
    near = min(end, at + 4 * size)
    broken = _LINE_END.search(text, at + size - 1, near)
    if broken is not None:
        return broken.end(), gaps.LINE
    found = _WHITE.search(text, at + size, end)
    if found is None:
        return None
    cut = found.start()
    while cut > at + 1 and text[cut - 1].isspace():
        cut -= 1
    if cut <= at + 1 and text[at].isspace():  # the run starts inside white space
        behind = _NOT_WHITE.search(text, at, end)
        if behind is None:
            return None
        if behind.start() - at > _LONGEST_WHITE:
            return behind.start(), gaps.INSIDE_WORD
        found = _WHITE.search(text, max(behind.start(), at + size), end)
        if found is None:
            return None
        cut = found.start()
    if text[cut] == "\n":
        behind = _NOT_WHITE.search(text, cut, end)
        if behind is None:
            return None
        line = text.rfind("\n", cut, behind.start()) + 1
        return line, gaps.LINE
    return cut, gaps.WORD


def _inside(text: str, start: int, end: int, room: int, running: Sequence[int]) -> Iterator[Cut]:
    """Cuts inside one unbroken run (and the white space before it): as few even parts as fit."""
    visible = _NOT_WHITE.search(text, start, end)
    at = visible.start() if visible else end
    if not is_edge(text, at):
        at = max(start, at - 1)
    if at - start > _LONGEST_WHITE:
        for part in range(start + _WHITE_PART, at, _WHITE_PART):
            yield part, gaps.INSIDE_WORD
        if at < end:
            yield at, gaps.INSIDE_WORD
    else:
        at = start
    if running[end] - running[at] <= room:
        return
    room = max(1, room - _ODD_TOKENS)
    while (cost := running[end] - running[at]) > room:
        share = cost / -(-cost // room)
        part = bisect_right(running, running[at] + share, at + 1, end) - 1
        at = cluster_edge(text, at, max(at + 1, part), end)
        if at >= end:
            return
        yield at, gaps.INSIDE_WORD


def is_edge(text: str, at: int) -> bool:
    """Whether no grapheme cluster is torn by parting text at `at`, white space there dropped."""
    behind = text[at + 1 : at + 2]
    if text[at : at + 1] == " " and " " < behind < _LAST_ASCII and text[at - 1] < _FIRST_MARK:
        return True  # the most common case, without a search
    visible = _NOT_WHITE.search(text, at)
    if visible is None:
        return True
    return _is_cluster_edge(text, at) and _is_cluster_edge(text, visible.start())


def _is_cluster_edge(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text) or text[at - 1 : at + 1].isascii():
        return True
    start = at - 1
    while start > 0 and at - start < _LONGEST_CLUSTER and not text[start - 1 : start + 1].isascii():
        start -= 1
    for cluster in _CLUSTER.finditer(text, start, min(len(text), at + _LONGEST_CLUSTER)):
        if cluster.end() >= at:
            return bool(cluster.end() == at)
    return True


def cluster_edge(text: str, start: int, near: int, end: int) -> int:
    """The last grapheme edge in (start, near], or the first one behind it where there is none.

    `start` must be an edge itself.
    """
    if near >= end:
        return end
    if text[near - 1 : near + 1].isascii():
        return near
    last = start
    for cluster in _CLUSTER.finditer(text, start, min(end, near + _LONGEST_CLUSTER)):
        if cluster.end() > near:
            return last if last > start else cluster.end()
        last = cluster.end()
    return last
