"""Files of one run that would be the same document: neither is ingested, since which one would win
depends on their order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from chunkprep_ingest.errors import KEY_CLASH, ReadError
from chunkprep_ingest.listing import SourceFile, Unreadable, printable, shown


def parted(files: Sequence[SourceFile]) -> tuple[list[SourceFile], list[Unreadable]]:
    """The files, by key, whose keys are theirs alone, and the others, each with what it clashes
    with.
    """
    ordered = sorted(files, key=attrgetter("key"))
    if all(one.key != other.key for one, other in pairwise(ordered)):
        return ordered, []
    alone: list[SourceFile] = []
    clashing: list[Unreadable] = []
    for _, found in groupby(ordered, key=attrgetter("key")):
        same = list(found)
        if len(same) == 1:
            alone.extend(same)
        else:
            clashing.extend(_refused(same))
    return alone, clashing


def _refused(same: Sequence[SourceFile]) -> Iterator[Unreadable]:
    for file in same:
        other = next(each for each in same if each is not file)
        more = f" (and {len(same) - 2} more)" if len(same) > 2 else ""
        told = f"{_told_apart(file, other)}{more} would be the same document, {file.key}"
        yield Unreadable(file.key, file.path, ReadError(KEY_CLASH, told), file.uri)


def _told_apart(file: SourceFile, other: SourceFile) -> str:
    """Both sources as the user knows them, and so that they differ."""
    one, two = shown(file), shown(other)
    if one == two:
        return f"{one} and the same URL with another query"
    if _looks(one) == _looks(two):
        one, two = ascii(one)[1:-1], ascii(two)[1:-1]
    return f"{printable(one)} and {printable(two)}"


def _looks(source: str) -> str:
    return unicodedata.normalize("NFC", printable(source))
