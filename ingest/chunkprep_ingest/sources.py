"""Which files a run is about: files, folders, globs and URLs, listed once and in a stable order."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.folder_walk import Entry, walk
from chunkprep_ingest.ids import document_key
from chunkprep_ingest.key_clashes import parted
from chunkprep_ingest.listing import (
    Listing,
    Scope,
    SourceFile,
    Unreadable,
    key_below,
    key_of,
    printable,
)
from chunkprep_ingest.remote import Mirror, Wanted, default_home, is_remote, mirror
from chunkprep_ingest.source_filters import IGNORE_FILE, Filter, hidden, says_of_others
from chunkprep_ingest.source_globs import as_path, has_magic, split_path
from chunkprep_ingest.url_secrets import without_fragment, without_secrets

_REMEDY = "check the URL and its credentials"


def list_sources(
    sources: Sequence[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    mirrors: Path | None = None,
    stop_asked: Callable[[], bool] = lambda: False,
) -> Listing:
    """The files that `sources` (files, folders, globs, fsspec URLs) name, each once, by key.

    What a URL names is downloaded below `mirrors` first, except what is there and unchanged, and
    no more once `stop_asked`.

    Hidden files, sidecars, rule files and what `.chunkprepignore` names are left out of folders.
    A missing or unreadable path is listed as unreadable, and so is each of two files that would get
    the same key (key_clash). Raises ChunkprepError where a protocol's extra is missing.
    """
    wanted = Filter(tuple(include), tuple(exclude))
    found = _Found(wanted, mirrors or default_home(), stop_asked)
    for source in sources:
        found.add(os.fspath(source))
    return found.listing()


def missing(sources: Sequence[str]) -> list[str]:
    """Those of the paths that name nothing: neither a file, a folder nor a glob below a folder.

    URLs are nobody's path here, and never missing.
    """
    return [source for source in sources if not (is_remote(source) or _there(as_path(source)))]


def _there(source: str) -> bool:
    if os.path.lexists(source):
        return True
    return has_magic(source) and split_path(source)[0].is_dir()


class _Place(NamedTuple):
    """A folder without symbolic links in its path, and the URI of that, both up to a file's name:
    looked up once, not for each of its files.
    """

    path: str
    uri: str


class _Found:
    """One listing in the making."""

    def __init__(self, wanted: Filter, mirrors: Path, stop_asked: Callable[[], bool]) -> None:
        self.wanted = wanted
        self.mirrors = mirrors
        self.stop_asked = stop_asked
        self.remote: dict[Path, Mirror] = {}
        self.files: dict[str, SourceFile] = {}  # by real path
        self.unreadable: dict[Path, Unreadable] = {}
        self.roots: list[Path] = []
        self.filtered = 0
        self.special: list[Path] = []
        self.places: dict[str, _Place] = {}

    def add(self, source: str) -> None:
        if is_remote(source):
            self._add_remote(without_fragment(source))
            return
        source = as_path(source)
        path = Path(source)
        if not os.path.lexists(path) and has_magic(source):
            self._add_glob(source)
        elif path.is_dir():
            self.roots.append(path)
            self._add_folder(path)
        else:
            self._add_file(Entry(path, path.name or source), path.parent, named=True)

    def listing(self) -> Listing:
        files, clashing = parted(tuple(self.files.values()))
        unreadable = sorted([*self.unreadable.values(), *clashing], key=attrgetter("key"))
        whole = [found for found in self.remote.values() if found.kind == "folder"]
        there = {found.uri(name) for found in whole for name in found.objects}
        urls = tuple(found.url for found in whole)
        left_out = frozenset(there.difference(file.uri for file in files))
        return Listing(
            tuple(files),
            tuple(unreadable),
            tuple(self.roots),
            urls,
            left_out,
            self.filtered,
            tuple(self.special),
        )

    def _takes(self, relative: str) -> bool:
        """Whether the patterns take the file at this path below its source."""
        taken = self.wanted.takes(relative)
        self.filtered += not taken
        return taken

    def _add_remote(self, source: str) -> None:
        """The mirror is walked like any folder, and only its URIs are another's."""
        filters = repr((self.wanted.include, self.wanted.exclude))
        asked = Wanted(self._counts, _ours, filters, self.stop_asked)
        found = mirror(source, self.mirrors, asked)
        shown = without_secrets(source)
        for lost in found.lost:
            uri = found.uri(lost.relative) if lost.relative else shown
            path = found.root / lost.relative
            told = ReadError("unreadable", f"{uri}: {lost.reason}", _REMEDY)
            key = key_of(path, found.root, "") if lost.relative else document_key(shown)
            scope = _scope(lost.relative)
            self.unreadable.setdefault(path, Unreadable(key, path, told, uri, lost.passing, scope))
        self.remote[found.root] = found
        if found.kind == "folder" and found.root.is_dir():
            self._add_folder(found.root)
        for name in () if found.kind == "folder" else found.files:
            if found.kind == "file" or not _ours(name):
                entry = Entry(found.root / name, name)
                self._add_file(entry, found.root, named=found.kind == "file")

    def _counts(self, relative: str) -> bool:
        return bool(relative) and not hidden(relative) and self._takes(relative)

    def _add_glob(self, source: str) -> None:
        root, pattern = split_path(source)
        if not root.is_dir():
            self._fail(root, root, "no such folder", scope="source")
            return
        found = [Entry(path, path.relative_to(root).as_posix()) for path in root.glob(pattern)]
        found = sorted(entry for entry in found if not hidden(entry.relative))
        if not found:
            self._fail(Path(source), root, "no file matches", scope="source")
        for entry in found:
            if not (entry.path.is_dir() or _ours(entry.relative)) and self._takes(entry.relative):
                self._add_file(entry, root)

    def _add_folder(self, root: Path) -> None:
        for entry in walk(root, self._takes, partial(self._fail_below, root), self.unreadable):
            self._add_file(entry, root)

    def _add_file(self, entry: Entry, root: Path, *, named: bool = False) -> None:
        path = entry.path
        if self.unreadable and path in self.unreadable:
            return  # what an earlier run downloaded of it is out of date
        try:
            status = path.lstat()
            linked = stat.S_ISLNK(status.st_mode)
            status = path.stat() if linked else status
        except OSError as error:
            scope: Scope = "source" if named and not os.path.lexists(path) else "file"
            self._fail(path, root, error.strerror or str(error), scope=scope)
            return
        if not stat.S_ISREG(status.st_mode):
            if named:
                self._fail(path, root, "not a regular file")
            elif not stat.S_ISDIR(status.st_mode):
                self.special.append(path)
            return
        folder, name = os.path.split(path)
        real = os.path.realpath(path) if linked else self._place(folder).path + name
        if real in self.files:
            return
        key, uri = key_below(entry.relative), self._uri(entry.relative, root)
        self.files[real] = SourceFile(
            key, uri, path, root, status.st_size, status.st_mtime_ns, named, real
        )

    def _uri(self, relative: str, root: Path) -> str:
        """Where something stands below a source: by the way that leads there from the source's own
        folder, so that what a link led to is known as the source's once the link is gone.
        """
        remote = self.remote.get(root) if self.remote else None
        if remote:
            return remote.uri(relative)
        uri = self._place(os.fspath(root)).uri + _quoted(relative)
        return uri if relative else uri.rstrip("/")

    def _place(self, folder: str) -> _Place:
        found = self.places.get(folder)
        if found is None:
            real = os.path.realpath(folder)
            uri = Path(real).as_uri().removesuffix("/")
            found = self.places[folder] = _Place(os.path.join(real, ""), f"{uri}/")  # noqa: PTH118
        return found

    def _fail_below(self, root: Path, path: Path, reason: str, remedy: str | None) -> None:
        scope: Scope = "ignore_file" if path.name == IGNORE_FILE else "folder"
        self._fail(path, root, reason, remedy, scope=scope)

    def _fail(
        self,
        path: Path,
        root: Path,
        reason: str,
        remedy: str | None = None,
        *,
        scope: Scope = "file",
    ) -> None:
        uri = self._uri("" if path == root else path.relative_to(root).as_posix(), root)
        told = printable(uri if root in self.remote else os.fspath(path))
        error = ReadError("unreadable", f"{told}: {reason}", remedy)
        key = key_of(path, root, path.name or os.fspath(path))
        self.unreadable.setdefault(path, Unreadable(key, path, error, uri, scope=scope))


def _quoted(name: str) -> str:
    return quote_from_bytes(os.fsencode(name))


def _scope(relative: str) -> Scope:
    """Of an object that could not be mirrored; "" is the source itself."""
    if not relative:
        return "source"
    return "ignore_file" if relative.rpartition("/")[2] == IGNORE_FILE else "file"


def _ours(relative: str) -> bool:
    """Whether it is a file of ours, which says something of others."""
    name = relative.rpartition("/")[2]
    return name == IGNORE_FILE or says_of_others(name)
