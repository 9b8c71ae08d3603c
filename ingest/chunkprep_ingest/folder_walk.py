"""What stands in a folder and below it: each file once, however many links lead to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import NamedTuple

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.source_filters import IGNORE_FILE, Ignored, says_of_others

Takes = Callable[[str], bool]
"""Whether the file at a path below the walk's root (POSIX) counts."""

Fail = Callable[[Path, str, str | None], None]
"""Hears of a folder that could not be listed, why, and what to do where that is special."""

_REMEDY = "save it as UTF-8, as a file that this user may read"


class Entry(NamedTuple):
    """A file or folder; `relative` is its path below the walk's root (POSIX)."""

    path: Path
    relative: str


def walk(
    root: Path, takes: Takes, fail: Fail, lost: Container[Path] = frozenset()
) -> Iterator[Entry]:
    """The files below `root` that count, links that lead to nothing, and pipes and their like.

    Real folders first and symbolic links after them, so that a link never hides a file. A folder
    whose ignore file cannot be read, or is among the `lost`, is left out whole.
    """
    here = _Walk(root, takes, fail, lost)
    yield from here.descend(Entry(root, ""))
    while here.links:
        link = here.links.pop(0)
        if _is_folder(link.path):
            yield from here.descend(link)
        else:
            yield link


class _Walk:
    """One walk under way: links met and folders seen."""

    def __init__(self, root: Path, takes: Takes, fail: Fail, lost: Container[Path]) -> None:
        self.takes = takes
        self.fail = fail
        self.lost = lost
        self.links: list[Entry] = []
        self.seen: set[tuple[int, int]] = set()
        self.ignored = Ignored(root)

    def descend(self, folder: Entry) -> Iterator[Entry]:
        stack = [folder]
        while stack:
            folder = stack.pop()
            try:
                status = folder.path.stat()
                entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
            except OSError as error:
                self.fail(folder.path, error.strerror or str(error), None)
                continue
            if (status.st_dev, status.st_ino) in self.seen:
                continue
            self.seen.add((status.st_dev, status.st_ino))
            if self._ignores(folder.path):
                yield from self._entries(folder, entries, stack)

    def _ignores(self, folder: Path) -> bool:
        """Whether it is known what the folder leaves out."""
        file = folder / IGNORE_FILE
        if file in self.lost:
            return False
        try:
            self.ignored.load(folder)
        except ReadError as error:
            reason = error.detail.removeprefix(f"{file}: ")
            self.fail(file, f"{reason}; without it nothing of its folder is ingested", _REMEDY)
            return False
        return True

    def _entries(
        self, folder: Entry, entries: list[os.DirEntry[str]], stack: list[Entry]
    ) -> Iterator[Entry]:
        before = f"{folder.relative}/" if folder.relative else ""
        for entry in entries:
            found = Entry(folder.path / entry.name, before + entry.name)
            directory = entry.is_dir(follow_symlinks=False)
            leads_on = directory or (entry.is_symlink() and _is_folder(found.path))
            if entry.name.startswith(".") or self.ignored.covers(found.path, leads_on):
                continue
            if directory:
                stack.append(found)
            elif says_of_others(entry.name) or not (leads_on or self.takes(found.relative)):
                continue
            elif entry.is_symlink():
                self.links.append(found)
            else:
                yield found


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - which says no where it may not look
