"""An open store: its connections, and what every part of it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self, TypeVar

import sqlalchemy as sa

from chunkprep_ingest.closing import Closing
from chunkprep_ingest.errors import StoreError
from chunkprep_ingest.model import Moment
from chunkprep_ingest.policy import Policy
from chunkprep_store import schema
from chunkprep_store.collection import (
    StoredProfile,
    ensure_collection,
    find_collection,
    get_policy,
    get_profile,
    list_collections,
    primary_policy,
    primary_profile,
    put_policy,
    put_profile,
    set_primary,
)
from chunkprep_store.engine import Database
from chunkprep_store.schema import SchemaState

T = TypeVar("T")


class Opened(Closing):
    """A store's connections, schema, collections and profiles."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._collection_ids: dict[str, int] = {}

    @classmethod
    def open(
        cls, url: str, *, create: bool | None = None, hurried: Callable[[], bool] = bool
    ) -> Self:
        """Open `sqlite:///FILE` (with `?mode=ro`: to read only) or
        `postgresql://USER@HOST/DATABASE`.

        An absent SQLite file is created at the current schema (not with `create=False`); with
        `create=True` any empty database is. `hurried` is asked, while a writer waits for another
        one of the SQLite file, whether to give that up soon. Raises SchemaError for another schema.
        """
        database = Database(url, hurried)
        try:
            if database.fresh and create is False:
                raise StoreError(
                    f"there is no store at {url}; ingest something first, or check --store"
                )
            empty = database.fresh or (create is True and schema.state(database).current is None)
            if empty and create is not False:
                schema.upgrade(database)
            schema.require_current(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def url(self) -> str:
        """Where the store is, without its password."""
        return self.database.shown_url

    @property
    def dialect(self) -> str:
        """Which database it is: "sqlite" or "postgresql"."""
        return self.database.dialect

    @property
    def read_only(self) -> bool:
        """Whether the store can be read but not written."""
        return self.database.read_only

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def schema(self) -> SchemaState:
        """Which migration the store is at."""
        return schema.state(self.database)

    def require_in_place(self) -> None:
        """Raise StoreMovedError where a SQLite store's file was moved, deleted or replaced since
        it was opened: connections that are open still work, with a file that is elsewhere.
        """
        self.database.require_in_place()

    def collections(self) -> list[str]:
        """The names of the collections, in order."""
        with self.database.snapshot() as connection:
            return list_collections(connection)

    def collection_id(self, collection: str) -> int:
        """The collection's row number. Raises NotFoundError."""
        found = self._collection_ids.get(collection)
        if found is None:
            with self.database.snapshot() as connection:
                found = find_collection(connection, collection)
            self._collection_ids[collection] = found
        return found

    def profile(self, collection: str) -> StoredProfile:
        """The profile that the collection's chunks are priced under."""
        with self.database.snapshot() as connection:
            return primary_profile(connection, collection)

    def template(self, profile_fingerprint: str) -> StoredProfile:
        """The profile with this fingerprint (a chunk row names it). Raises NotFoundError."""
        with self.database.snapshot() as connection:
            return get_profile(connection, profile_fingerprint)

    def put_profile(
        self,
        profile_fingerprint: str,
        encoding: str,
        template_json: str,
        ordinal_tokens: int,
        *,
        exact: bool = True,
        margin: int = 0,
    ) -> None:
        """Keep a profile, so that blocks can be rendered; `ordinal_tokens` is a number's cost."""
        self.database.retry(
            lambda c: put_profile(
                c, profile_fingerprint, encoding, template_json, ordinal_tokens, exact, margin
            )
        )

    def policy(self, fingerprint: str) -> Policy | None:
        """The policy with this fingerprint, where it was put."""
        with self.database.snapshot() as connection:
            return get_policy(connection, fingerprint)

    def primary_policy(self, collection: str) -> Policy | None:
        """The policy that the collection's chunks are made with, where it was put."""
        with self.database.snapshot() as connection:
            return primary_policy(connection, collection)

    def put_policy(self, policy: Policy) -> None:
        """Keep a policy, so that the audit knows its cap."""
        self.database.retry(lambda c: put_policy(c, policy))

    def set_primary(
        self, collection: str, *, policy: str | None, profile: str | None, now: Moment
    ) -> None:
        """Say by fingerprint what the collection's chunks are to be made with from now on."""

        def work(connection: sa.Connection) -> None:
            number = ensure_collection(connection, collection, now, policy, profile)
            set_primary(connection, number, policy, profile)

        self.database.retry(work)

    def _read(self, collection: str, work: Callable[[sa.Connection, int], T]) -> T:
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            return work(connection, number)

    def _change(self, collection: str, work: Callable[[sa.Connection, int], T]) -> T:
        number = self.collection_id(collection)
        return self.database.retry(lambda c: work(c, number))
