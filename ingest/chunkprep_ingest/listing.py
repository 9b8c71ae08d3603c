"""What a listing of sources holds: files, what could not be listed, and what it speaks for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from chunkprep_ingest.errors import KEY_CLASH, ReadError
from chunkprep_ingest.ids import document_key


class SourceFile(NamedTuple):
    """One file to ingest.

    `key` is the document's key, `root` the folder that it is relative to, `size` in bytes,
    `mtime` in nanoseconds. `named` tells a file that the user named from one that was found; `real`
    is its path with links followed ("" where nobody looked).
    """

    key: str
    uri: str
    path: Path
    root: Path
    size: int
    mtime: int
    named: bool = False
    real: str = ""


Scope = Literal["file", "ignore_file", "folder", "source"]


class Unreadable(NamedTuple):
    """A path that could not be listed: not a deletion. `key` as a document's key would be."""

    key: str
    path: Path
    error: ReadError
    uri: str
    passing: bool = False
    """Whether the trouble may be over in a moment."""
    scope: Scope = "file"
    """Whether it is a file, a folder (by itself, or for its ignore file), or all that a source
    names. A link that leads nowhere is a file, and may have led to a folder.
    """

    def hides(self, key: str, uri: str) -> bool:
        """Whether a document may be there all the same: under this key, at this place or below."""
        if key == self.key:
            return True
        place = self.uri.rpartition("/")[0] if self.scope == "ignore_file" else self.uri
        return uri == place or uri.startswith(below(place))


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found."""

    files: tuple[SourceFile, ...]
    unreadable: tuple[Unreadable, ...]
    roots: tuple[Path, ...]
    """The folders that were listed whole, filters aside: what `--sync` may speak for."""
    remote_roots: tuple[str, ...] = ()
    """The URLs of remote ones."""
    left_out: frozenset[str] = frozenset()
    """The URLs of what else is there below those."""
    filtered: int = 0
    """Files that --include and --exclude leave out."""
    special: tuple[Path, ...] = ()
    """Pipes, sockets and devices, which are left out."""

    @property
    def root_uris(self) -> tuple[str, ...]:
        """The URIs of all those folders; one that is itself a link is the folder it leads to."""
        real = (Path(os.path.realpath(root)).as_uri() for root in self.roots)
        return (*real, *self.remote_roots)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What the URIs of the documents in those folders begin with."""
        return tuple(map(below, self.root_uris))

    def empty(self, left_out: Iterable[str] = ()) -> tuple[str, ...]:
        """Those of the prefixes below which no file was found, nor one of the URIs left out."""
        clashing = (item.uri for item in self.unreadable if item.error.code == KEY_CLASH)
        found = {*left_out, *clashing, *(file.uri for file in self.files)}
        return tuple(
            prefix for prefix in self.prefixes if not any(uri.startswith(prefix) for uri in found)
        )

    @property
    def unlisted(self) -> Unreadable | None:
        """The first folder or source that could not be listed to its end; None where all were."""
        return next((item for item in self.unreadable if item.scope != "file"), None)

    @property
    def complete(self) -> bool:
        """Whether every folder and source named was listed to its end."""
        return self.unlisted is None

    @property
    def there(self) -> frozenset[str]:
        """The keys of the files found; of those that clash too."""
        clashing = (item.key for item in self.unreadable if item.error.code == KEY_CLASH)
        return frozenset(file.key for file in self.files).union(clashing)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all that is there, or may be."""
        return frozenset(item.key for items in (self.files, self.unreadable) for item in items)


def below(folder: str) -> str:
    """What every URI below a folder's begins with."""
    return folder.rstrip("/") + "/"


def shown(file: SourceFile) -> str:
    """A file as the user knows it: by its path, or its URL."""
    return os.fspath(file.path) if file.uri.startswith("file://") else file.uri


def key_of(path: Path, root: Path, name: str) -> str:
    """A document's key: its path below its source folder; `name` stands for the folder itself."""
    try:
        relative = path.relative_to(root).as_posix()
    except ValueError:
        relative = path.name
    return key_below(relative if relative != "." else name)


def key_below(relative: str) -> str:
    """The key of the document at a path (POSIX) below its source folder."""
    return document_key(printable(relative))


def printable(text: str) -> str:
    """`text` with the bytes of a file name that are not UTF-8 written as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
