"""The names of packs in the log: what may be one, and what became of those that were taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock
from uuid import uuid4

from chunkprep_ingest.errors import RequestError
from chunkprep_store import PackRecord, Store

LONGEST = 200
"""Characters of a name that a caller may give."""
_NO_PART = {".", ".."}
"""Of a URL's path, by which a pack is asked for."""


def pack_name(given: object) -> str:
    """The name given to a pack, or a new one for None. Raises RequestError for what is no name:
    databases hold no NUL and no lone surrogate, and people look names up.
    """
    if given is None:
        return uuid4().hex
    if not isinstance(given, str):
        kind = type(given).__name__
        raise RequestError(f"request_id: {kind} is no text; give str(...) of it", "request_id")
    fits = 0 < len(given) <= LONGEST and given.isprintable() and not given.isspace()
    if not fits or given in _NO_PART:
        raise RequestError(
            f"request_id: {given[:40]!r} names no pack; give 1 to {LONGEST} printable characters "
            f"(it has {len(given):,}), or leave it out",
            "request_id",
        )
    return given


def require_free(store: Store, collection: str, name: str) -> None:
    """Raise RequestError where a pack of this name is logged."""
    if any(store.packs(collection, request_id=name)):
        raise RequestError(
            f"request_id: {name!r} is logged already in collection {collection!r}; give each pack "
            f"a name of its own, or leave it out",
            "request_id",
        )


class NamedWrites:
    """Writes records to the store's log, and remembers those that got another name there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._renamed: deque[tuple[str, str]] = deque(maxlen=1_000)  # the latest, nobody may ask

    def write(self, collection: str, records: Sequence[PackRecord]) -> None:
        """Write records; one whose name is taken is written under a further one."""
        renamed = self._store.write_packs(collection, records)
        with self._lock:
            self._renamed.extend(renamed)

    def take_warning(self) -> str | None:
        """A warning about the names that were taken since the last call, where any were."""
        if not self._renamed:
            return None
        with self._lock:
            renamed = tuple(self._renamed)
            self._renamed.clear()
        if not renamed:  # another thread has just taken them
            return None
        (asked, stored), others = renamed[0], len(renamed) - 1
        more = f", and {others} further packs likewise" if others else ""
        return (
            f"request_id_taken: a pack since the last answer is logged as {stored!r}, because "
            f"{asked!r} was there already{more}; give each pack a name of its own"
        )
