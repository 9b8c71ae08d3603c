"""What stands in a folder and below it: each file once, however many links lead to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from chunkprep_ingest.source_filters import Filter, Ignored, says_of_others

Fail = Callable[[Path, str], None]
"""Hears of a folder that could not be listed, and why."""


def walk(root: Path, wanted: Filter, fail: Fail) -> Iterator[Path]:
    """The files below `root` that count, and links that lead to nothing.

    Real folders first and symbolic links after them, so that a link never hides a file.
    """
    here = _Walk(root, wanted, fail)
    yield from here.descend(root)
    while here.links:
        link = here.links.pop(0)
        if link.is_dir():
            yield from here.descend(link)
        else:
            yield link


class _Walk:
    """One walk under way: links met and folders seen."""

    def __init__(self, root: Path, wanted: Filter, fail: Fail) -> None:
        self.root = root
        self.wanted = wanted
        self.fail = fail
        self.links: list[Path] = []
        self.seen: set[tuple[int, int]] = set()
        self.ignored = Ignored(root)

    def descend(self, folder: Path) -> Iterator[Path]:
        stack = [folder]
        while stack:
            folder = stack.pop()
            try:
                status = folder.stat()
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self.fail(folder, error.strerror or str(error))
                continue
            if (status.st_dev, status.st_ino) in self.seen:
                continue
            self.seen.add((status.st_dev, status.st_ino))
            self.ignored.load(folder)
            yield from self._entries(folder, entries, stack)

    def _entries(
        self, folder: Path, entries: list[os.DirEntry[str]], stack: list[Path]
    ) -> Iterator[Path]:
        for entry in entries:
            path = folder / entry.name
            directory = entry.is_dir(follow_symlinks=False)
            leads_on = directory or (entry.is_symlink() and path.is_dir())
            if entry.name.startswith(".") or self.ignored.covers(path, leads_on):
                continue
            if directory:
                stack.append(path)
            elif not self._takes(path, leads_on):
                continue
            elif entry.is_symlink():
                self.links.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path

    def _takes(self, path: Path, leads_on: bool) -> bool:
        if says_of_others(path.name):
            return False
        return leads_on or self.wanted.takes(path.relative_to(self.root).as_posix())
