"""Opening the store for one command, and the moment that it works at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chunkprep_flows.interrupt import stop_asked
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import Moment

if TYPE_CHECKING:
    from chunkprep_store import Store


@contextmanager
def opened(url: str, *, create: bool | None = False) -> Iterator[Store]:
    """The store at `url`, closed afterwards.

    `create` False: an absent SQLite file is an error, not an empty answer; None: it is made at the
    current schema. Raises StoreError or SchemaError.
    """
    from chunkprep_store import Store

    with Store.open(url, create=create, hurried=stop_asked) as store:
        yield store


def is_there(url: str) -> bool:
    """Whether something may be read at `url`: False for a SQLite file that is yet to be made."""
    from chunkprep_store.engine import Database

    database = Database(url)
    database.close()
    return not database.fresh


def now() -> Moment:
    """The clock, in microseconds UTC."""
    return time.time_ns() // 1000


def at(as_of: str | None) -> Moment:
    """The moment that `--as-of` names, or now. Raises ChunkprepError for other text."""
    return now() if as_of is None else moment(as_of)
