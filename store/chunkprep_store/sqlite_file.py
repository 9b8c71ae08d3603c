"""The file of a SQLite store: whether it is there, and whether it may be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError


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
