"""Which chunk of a new version continues which chunk of the old one.

The chunk with the same content, else the nearest text at the same place in the heading tree,
else none. Work is linear in the words: words too common to tell chunks apart are not looked at.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

MIN_OVERLAP = 0.15
"""Share of the shorter text's distinct words that a successor must hold."""
COMMON = 40
"""A word in more chunks than this (of one heading path) does not help to tell them apart."""

_WORD = re.compile(r"\w+")


class Place(NamedTuple):
    """A chunk as far as matching needs it; `heading_path` in any form that compares."""

    chunk_id: str
    ordinal: int
    content_hash: str
    heading_path: str


Texts = Callable[[Sequence[str]], dict[str, str]]
"""Texts by chunk id, asked once and only for chunks that no equal content settles."""


def match_successors(
    old: Sequence[Place], new: Sequence[Place], old_texts: Texts, new_texts: Texts
) -> dict[str, str]:
    """Successor chunk id by old chunk id; chunks without one are left out."""
    found = _same_content(old, new)
    by_path: dict[str, list[Place]] = defaultdict(list)
    for place in new:
        by_path[place.heading_path].append(place)
    rest = [p for p in old if p.chunk_id not in found and p.heading_path in by_path]
    if not rest:
        return found
    before = old_texts([p.chunk_id for p in rest])
    paths = {p.heading_path for p in rest}
    after = new_texts([p.chunk_id for p in new if p.heading_path in paths])
    for path in sorted(paths):
        here = [p for p in rest if p.heading_path == path]
        found.update(_nearest(here, by_path[path], before, after))
    return found


def _same_content(old: Iterable[Place], new: Iterable[Place]) -> dict[str, str]:
    by_hash: dict[str, list[Place]] = defaultdict(list)
    for place in new:
        by_hash[place.content_hash].append(place)
    return {
        p.chunk_id: min(
            by_hash[p.content_hash],
            key=lambda n: (n.heading_path != p.heading_path, abs(n.ordinal - p.ordinal), n.ordinal),
        ).chunk_id
        for p in old
        if p.content_hash in by_hash
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _nearest(
    old: Sequence[Place], new: Sequence[Place], before: dict[str, str], after: dict[str, str]
) -> dict[str, str]:
    words = [_words(after[p.chunk_id]) for p in new]
    holders: dict[str, list[int]] = defaultdict(list)
    for index, found in enumerate(words):
        for word in found:
            holders[word].append(index)
    matches = {}
    for place in old:
        mine = _words(before[place.chunk_id])
        shared: Counter[int] = Counter()
        for word in mine:
            if len(holders.get(word, ())) <= COMMON:
                shared.update(holders.get(word, ()))
        ranked = [
            (count, -abs(new[i].ordinal - place.ordinal), -new[i].ordinal, i)
            for i, count in shared.items()
            if count >= MIN_OVERLAP * min(len(mine), len(words[i]))
        ]
        if ranked:
            matches[place.chunk_id] = new[max(ranked)[-1]].chunk_id
    return matches
