"""What a listing of sources holds: files, what could not be listed, and what it speaks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkprep_ingest.errors import KEY_CLASH, ReadError
from chunkprep_ingest.ids import document_key


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
    passing: bool = False
    """Whether the trouble may be over in a moment."""
    below: bool = False
    """Whether it hides what else is there: a folder, its ignore file, a source as a whole."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found. `complete` is False where something could not be listed."""

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

    @property
    def root_uris(self) -> tuple[str, ...]:
        """The URIs of all those folders."""
        return (*(root.absolute().as_uri() for root in self.roots), *self.remote_roots)

    @property
    def complete(self) -> bool:
        """Whether every folder named was listed to its end; files whose keys clash were."""
        return all(item.error.code == KEY_CLASH for item in self.unreadable)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all that is there, or may be."""
        return frozenset(item.key for items in (self.files, self.unreadable) for item in items)


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
