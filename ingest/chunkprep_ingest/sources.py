"""Which files a run is about: files, folders, globs and URLs, listed once and in a stable order."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pathspec import GitIgnoreSpec

from chunkprep_ingest.errors import ChunkprepError, ReadError
from chunkprep_ingest.ids import document_key
from chunkprep_ingest.remote import Mirror, default_home, is_remote, mirror

IGNORE_FILE = ".chunkprepignore"
RULES_FILE = "chunkprep.yaml"
SIDECAR_SUFFIX = ".meta.yaml"
_MAGIC = frozenset("*?[")


class SourceFile(NamedTuple):
    """One file to ingest.

    `key` is the document's key, `root` the folder that it is relative to, `size` in bytes,
    `mtime` in nanoseconds. `named` tells a file that the user named from one that was found.
    """

    key: str
    uri: str
    path: Path
    root: Path
    size: int
    mtime: int
    named: bool = False


class Unreadable(NamedTuple):
    """A path that could not be listed: not a deletion. `key` as a document's key would be."""

    key: str
    path: Path
    error: ReadError
    uri: str | None = None
    """Where it is, if that is not the path."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found. `complete` is False where something could not be listed."""

    files: tuple[SourceFile, ...]
    unreadable: tuple[Unreadable, ...]
    roots: tuple[Path, ...]
    """The folders that were listed whole, filters aside: what `--sync` may speak for."""
    remote_roots: tuple[str, ...] = ()
    """The URLs of remote ones."""

    @property
    def root_uris(self) -> tuple[str, ...]:
        """The URIs of all those folders."""
        return (*(root.absolute().as_uri() for root in self.roots), *self.remote_roots)

    @property
    def complete(self) -> bool:
        """Whether every folder named was listed to its end."""
        return not self.unreadable


@dataclass(frozen=True, slots=True)
class Filter:
    """Which files of a folder count: patterns as in .gitignore, relative to the source folder."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _included: GitIgnoreSpec = field(init=False, repr=False, compare=False)
    _excluded: GitIgnoreSpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns. Raises ChunkprepError for one that is none."""
        object.__setattr__(self, "_included", _spec(self.include, "--include"))
        object.__setattr__(self, "_excluded", _spec(self.exclude, "--exclude"))

    def takes(self, relative: str) -> bool:
        """Whether the file at this path relative to its source folder counts."""
        if self.include and not self._included.match_file(relative):
            return False
        return not self._excluded.match_file(relative)


def list_sources(
    sources: Sequence[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    mirrors: Path | None = None,
) -> Listing:
    """The files that `sources` (files, folders, globs, fsspec URLs) name, each once, by key.

    What a URL names is downloaded below `mirrors` first, except what is there and unchanged.

    Hidden files, sidecars, rule files and what `.chunkprepignore` names are left out of folders.
    A missing or unreadable path is listed as unreadable. Raises ChunkprepError where two files
    would get the same key, or where a protocol's extra is missing.
    """
    wanted = Filter(tuple(include), tuple(exclude))
    walk = _Walk(wanted, mirrors or default_home())
    for source in sources:
        walk.add(os.fspath(source))
    return walk.listing()


def missing(sources: Sequence[str]) -> list[str]:
    """Those of the paths that name nothing: neither a file, a folder nor a glob below a folder.

    URLs are nobody's path here, and never missing.
    """
    return [source for source in sources if "://" not in source and not _there(source)]


def _there(source: str) -> bool:
    if os.path.lexists(source):
        return True
    return bool(_MAGIC & set(source)) and _split_glob(source)[0].is_dir()


class _Walk:
    """One listing in the making."""

    def __init__(self, wanted: Filter, mirrors: Path) -> None:
        self.wanted = wanted
        self.mirrors = mirrors
        self.remote: dict[Path, Mirror] = {}
        self.files: dict[str, SourceFile] = {}
        self.keys: dict[str, str] = {}  # key -> real path
        self.unreadable: dict[Path, Unreadable] = {}
        self.roots: list[Path] = []
        self.real_folders: dict[Path, Path] = {}

    def add(self, source: str) -> None:
        if is_remote(source):
            self._add_remote(source)
            return
        path = Path(source)
        if not os.path.lexists(path) and _MAGIC & set(source):
            self._add_glob(source)
        elif path.is_dir():
            self.roots.append(path)
            self._add_folder(path)
        else:
            self._add_file(path, path.parent, named=True)

    def listing(self) -> Listing:
        files = sorted(self.files.values(), key=lambda file: file.key)
        unreadable = sorted(self.unreadable.values(), key=lambda item: item.key)
        whole = tuple(found.url for found in self.remote.values() if found.whole)
        return Listing(tuple(files), tuple(unreadable), tuple(self.roots), whole)

    def _add_remote(self, source: str) -> None:
        """The mirror is walked like any folder, and only its URIs are another's."""
        filters = repr((self.wanted.include, self.wanted.exclude))
        found = mirror(source, self.mirrors, self._counts_remotely, filters)
        for relative, reason in found.lost:
            uri = found.uri(relative) if relative else source
            path = found.root / relative
            told = ReadError("unreadable", f"{uri}: {reason}", "check the URL and its credentials")
            key = _key(path, found.root) if relative else document_key(source)
            self.unreadable.setdefault(path, Unreadable(key, path, told, uri))
        self.remote[found.root] = found
        if found.whole and found.root.is_dir():
            self._add_folder(found.root)
        for name in () if found.whole else found.files:
            self._add_file(found.root / name, found.root, named=True)

    def _counts_remotely(self, relative: str) -> bool:
        """Also the files of ours that say something of others."""
        name = relative.rpartition("/")[2]
        ours = name in (RULES_FILE, IGNORE_FILE) or name.endswith(SIDECAR_SUFFIX)
        hidden = any(part.startswith(".") for part in relative.split("/"))
        return ours or (bool(name) and not hidden and self.wanted.takes(relative))

    def _add_glob(self, source: str) -> None:
        root, pattern = _split_glob(source)
        if not root.is_dir():
            self._fail(root, root, "no such folder")
            return
        found = sorted(path for path in root.glob(pattern) if not _hidden(path, root))
        if not found:
            self._fail(Path(source), root, "no file matches")
        for path in found:
            if not path.is_dir() and self.wanted.takes(path.relative_to(root).as_posix()):
                self._add_file(path, root)

    def _add_folder(self, root: Path) -> None:
        """Real folders first and symbolic links after them, so that a link never hides a file."""
        links: list[Path] = []
        seen: set[tuple[int, int]] = set()
        ignored = _Ignored(root)
        self._descend(root, root, ignored, seen, links)
        while links:
            link = links.pop(0)
            if link.is_dir():
                self._descend(link, root, ignored, seen, links)
            else:
                self._add_file(link, root)

    def _descend(
        self,
        folder: Path,
        root: Path,
        ignored: _Ignored,
        seen: set[tuple[int, int]],
        links: list[Path],
    ) -> None:
        stack = [folder]
        while stack:
            folder = stack.pop()
            try:
                status = folder.stat()
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._fail(folder, root, error.strerror or str(error))
                continue
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            ignored.load(folder)
            for entry in entries:
                path = folder / entry.name
                directory = entry.is_dir(follow_symlinks=False)
                leads_on = directory or (entry.is_symlink() and path.is_dir())
                if entry.name.startswith(".") or ignored.covers(path, leads_on):
                    continue
                if directory:
                    stack.append(path)
                elif not self._takes(path, root, leads_on):
                    continue
                elif entry.is_symlink():
                    links.append(path)
                elif entry.is_file(follow_symlinks=False):
                    self._add_file(path, root)

    def _takes(self, path: Path, root: Path, leads_on: bool) -> bool:
        name = path.name
        if name == RULES_FILE or name.endswith(SIDECAR_SUFFIX):
            return False
        return leads_on or self.wanted.takes(path.relative_to(root).as_posix())

    def _add_file(self, path: Path, root: Path, *, named: bool = False) -> None:
        if path in self.unreadable:  # what an earlier run downloaded of it is out of date
            return
        try:
            status = path.lstat()
            linked = stat.S_ISLNK(status.st_mode)
            status = path.stat() if linked else status
        except OSError as error:
            self._fail(path, root, error.strerror or str(error))
            return
        if not stat.S_ISREG(status.st_mode):
            if named:
                self._fail(path, root, "not a regular file")
            return
        place = self._real_folder(path.parent) / path.name
        real = os.path.realpath(place) if linked else os.fspath(place)
        if real in self.files:
            return
        key = _key(path, root)
        other = self.keys.setdefault(key, real)
        if other != real:
            raise ChunkprepError(
                f"two files would be the document {key!r}: {self.files[other].path} and {path}; "
                f"name a folder that holds both instead"
            )
        uri = self._uri(path, root, place)
        self.files[real] = SourceFile(
            key, uri, path, root, status.st_size, status.st_mtime_ns, named
        )

    def _real_folder(self, folder: Path) -> Path:
        """The folder without symbolic links in its path, looked up once."""
        found = self.real_folders.get(folder)
        if found is None:
            found = self.real_folders[folder] = folder.resolve()
        return found

    def _uri(self, path: Path, root: Path, place: Path) -> str:
        """`place` is the file's real folder and its own name."""
        found = self.remote.get(root)
        if found is not None:
            return found.uri(path.relative_to(root).as_posix())
        return place.as_uri()

    def _fail(self, path: Path, root: Path, reason: str) -> None:
        error = ReadError("unreadable", f"{_printable(os.fspath(path))}: {reason}")
        self.unreadable.setdefault(path, Unreadable(_key(path, root), path, error))


class _Ignored:
    """The .chunkprepignore files from a source folder down to the folder at hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.specs: dict[Path, GitIgnoreSpec] = {}

    def load(self, folder: Path) -> None:
        file = folder / IGNORE_FILE
        if file.is_file():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            self.specs[folder] = _spec(lines, str(file))

    def covers(self, path: Path, directory: bool) -> bool:
        if not self.specs:
            return False
        return any(
            spec.match_file(path.relative_to(folder).as_posix() + ("/" if directory else ""))
            for folder, spec in self._above(path)
        )

    def _above(self, path: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
        for folder in path.parents:
            spec = self.specs.get(folder)
            if spec is not None:
                yield folder, spec
            if folder == self.root:
                return


def path_of(uri: str) -> Path:
    """The file that the URI of a source file names."""
    return Path(unquote(urlsplit(uri).path))


def _spec(lines: Sequence[str], where: str) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise ChunkprepError(f"{where}: {error}; patterns are written as in .gitignore") from error


def _split_glob(source: str) -> tuple[Path, str]:
    """The fixed folder at the front of a glob, and the pattern below it."""
    parts = Path(source).parts
    at = next(i for i, part in enumerate(parts) if _MAGIC & set(part))
    return Path(*parts[:at]), str(Path(*parts[at:]))


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _key(path: Path, root: Path) -> str:
    try:
        relative = path.relative_to(root).as_posix()
    except ValueError:
        relative = path.name
    return document_key(_printable(relative if relative != "." else path.name or os.fspath(path)))


def _printable(text: str) -> str:
    """`text` with the bytes of a file name that are not UTF-8 written as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
