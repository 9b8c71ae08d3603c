"""The file of a SQLite store: whether it is there, and whether it may be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError, StoreMovedError


class SqliteFile(NamedTuple):
    """`fresh`: there is no content yet. `read_only`: it cannot, or is not to, be written."""

    path: Path
    fresh: bool
    read_only: bool

    def reading_url(self) -> sa.URL:
        """Where to read without writing anything: no journal mode is set, no page is changed.

        SQLite needs a shared-memory file beside a database in WAL mode; where the folder takes
        none and no writer has left its log, the file is read as one that does not change.
        """
        query = {"mode": "ro", "uri": "true"}
        log = self.path.with_name(self.path.name + "-wal")
        if not os.access(self.path.parent, os.W_OK) and not _has_content(log):
            query["immutable"] = "1"
        return sa.URL.create(
            "sqlite+pysqlite", database=f"file:{quote(str(self.path.absolute()))}", query=query
        )


class OpenedFile:
    """Which file stood at a path when it was first opened.

    Connections stay with the file that they opened, wherever that is moved; one that is opened
    later would have whatever is at the path by then, an empty file that SQLite makes included.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._known: tuple[int, int] | None = None

    def remember(self) -> None:
        """The file is open now; the first time counts."""
        self._known = self._known or _identity(self._path)

    def require(self) -> None:
        """Raise StoreMovedError where the path does not name the file that was opened first."""
        if self._known is None:
            return
        there = _identity(self._path)
        if there != self._known:
            happened = "moved or deleted" if there is None else "replaced by another file"
            raise StoreMovedError(
                f"{self._path} was {happened} while it was open: what is written now, the pack log "
                f"too, goes into a file that nobody finds there; put the file back (its -wal too), "
                f"or stop this program and start it again on the right --store"
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and number of a file; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sqlite_file(url: sa.URL) -> SqliteFile:
    """The file that a store's URL names; `?mode=ro` asks not to write it.

    Raises StoreError for a folder, and where the folder to hold the file is not there.
    """
    path = Path(url.database or "")
    if path.is_dir():
        raise StoreError(f"{path} is a folder, a SQLite store is a file; write sqlite:///FILE")
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist; make it, or check --store")
    fresh = not _has_content(path)
    asked = url.query.get("mode") == "ro"
    return SqliteFile(path, fresh, not fresh and (asked or not os.access(path, os.W_OK)))


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
