"""The store: one door to everything that is written and read. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError
from chunkprep_ingest.model import ChunkRow, Moment, ParsedDocument, PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_store import (
    audit as _audit,
)
from chunkprep_store import (
    changes as _changes,
)
from chunkprep_store import (
    collection as _collection,
)
from chunkprep_store import (
    documents as _documents,
)
from chunkprep_store import (
    erase as _erase,
)
from chunkprep_store import (
    lifecycle as _lifecycle,
)
from chunkprep_store import (
    lookup as _lookup,
)
from chunkprep_store import (
    packlog as _packlog,
)
from chunkprep_store import (
    prune as _prune,
)
from chunkprep_store import (
    runs as _runs,
)
from chunkprep_store import (
    schema as _schema,
)
from chunkprep_store import (
    search as _search,
)
from chunkprep_store import (
    writing as _writing,
)
from chunkprep_store.audit import AuditRequest, Counters, Finding, Sources
from chunkprep_store.changes import Change
from chunkprep_store.collection import StoredProfile
from chunkprep_store.documents import KnownDocument, VersionInfo
from chunkprep_store.engine import Database
from chunkprep_store.erase import Erased
from chunkprep_store.lifecycle import By, Decided
from chunkprep_store.lookup import Lookup
from chunkprep_store.packlog import Impact, PackRecord
from chunkprep_store.prune import Pruned
from chunkprep_store.runs import Failure, Run
from chunkprep_store.schema import SchemaState
from chunkprep_store.search import SearchHit
from chunkprep_store.writing import WriteOutcome

T = TypeVar("T")


class Store:
    """An open store. Safe to share between threads; a forked process opens its own.

    Every read names a collection and raises NotFoundError for one that does not exist.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._collection_ids: dict[str, int] = {}

    @classmethod
    def open(cls, url: str, *, create: bool | None = None) -> Self:
        """Open `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`.

        An absent SQLite file is created at the current schema (not with `create=False`); with
        `create=True` any empty database is. Raises SchemaError for another schema.
        """
        database = Database(url)
        try:
            if database.fresh and create is False:
                raise StoreError(
                    f"there is no store at {url}; ingest something first, or check --store"
                )
            empty = database.fresh or (create is True and _schema.state(database).current is None)
            if empty and create is not False:
                _schema.upgrade(database)
            _schema.require_current(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def url(self) -> str:
        """Where the store is, without its password."""
        return self.database.url.render_as_string(hide_password=True)

    @property
    def dialect(self) -> str:
        """Which database it is: "sqlite" or "postgresql"."""
        return self.database.dialect

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def schema(self) -> SchemaState:
        """Which migration the store is at."""
        return _schema.state(self.database)

    # collections, profiles, policies

    def collections(self) -> list[str]:
        """The names of the collections, in order."""
        with self.database.snapshot() as connection:
            return _collection.list_collections(connection)

    def collection_id(self, collection: str) -> int:
        """The collection's row number. Raises NotFoundError."""
        found = self._collection_ids.get(collection)
        if found is None:
            with self.database.snapshot() as connection:
                found = _collection.find_collection(connection, collection)
            self._collection_ids[collection] = found
        return found

    def profile(self, collection: str) -> StoredProfile:
        """The profile that the collection's chunks are priced under."""
        with self.database.snapshot() as connection:
            return _collection.primary_profile(connection, collection)

    def template(self, profile_fingerprint: str) -> StoredProfile:
        """The profile with this fingerprint (a chunk row names it). Raises NotFoundError."""
        with self.database.snapshot() as connection:
            return _collection.get_profile(connection, profile_fingerprint)

    def put_profile(
        self, profile_fingerprint: str, encoding: str, template_json: str, ordinal_tokens: int
    ) -> None:
        """Keep a profile, so that blocks can be rendered; `ordinal_tokens` is a number's cost."""
        self.database.retry(
            lambda c: _collection.put_profile(
                c, profile_fingerprint, encoding, template_json, ordinal_tokens
            )
        )

    def policy(self, fingerprint: str) -> Policy | None:
        """The policy with this fingerprint, where it was put."""
        with self.database.snapshot() as connection:
            return _collection.get_policy(connection, fingerprint)

    def primary_policy(self, collection: str) -> Policy | None:
        """The policy that the collection's chunks are made with, where it was put."""
        with self.database.snapshot() as connection:
            return _collection.primary_policy(connection, collection)

    def put_policy(self, policy: Policy) -> None:
        """Keep a policy, so that the audit knows its cap."""
        self.database.retry(lambda c: _collection.put_policy(c, policy))

    def set_primary(
        self, collection: str, *, policy: str | None, profile: str | None, now: Moment
    ) -> None:
        """Say by fingerprint what the collection's chunks are to be made with from now on."""

        def work(connection: sa.Connection) -> None:
            number = _collection.ensure_collection(connection, collection, now, policy, profile)
            _collection.set_primary(connection, number, policy, profile)

        self.database.retry(work)

    # writing

    def known(self, collection: str, keys: Sequence[str]) -> dict[str, KnownDocument]:
        """What is known of each document key; {} for a collection that does not exist yet."""
        with self.database.snapshot() as connection:
            number = _collection.collection_id_or_none(connection, collection)
            return {} if number is None else _documents.known(connection, number, keys)

    def write_version(
        self, collection: str, prepared: PreparedVersion, *, now: Moment, run_id: str | None = None
    ) -> WriteOutcome:
        """Store a prepared version in one transaction (laws 7 and 8).

        Raises MetadataError where its `supersedes` closes a cycle, ConflictError where other
        writers kept colliding.
        """
        return self.database.retry(
            lambda c: _writing.write_version(c, collection, prepared, now, run_id)
        )

    def supersede(
        self, collection: str, old: str, new: str, *, now: Moment, reason: str | None = None
    ) -> Decided:
        """Let document `new` supersede `old`: from the date that `new` is valid from, where it
        names one, else from now. Raises MetadataError (bad_metadata) for a cycle.
        """
        return self._change(
            collection, lambda c, n: _lifecycle.supersede(c, n, old, new, now, reason)
        )

    def withdraw(
        self,
        collection: str,
        document: str,
        *,
        now: Moment,
        reason: str | None = None,
        by: By = "hand",
    ) -> Decided:
        """Take a document out of force from now on. What `by` "sync" withdrew revives when it is
        written again, what was withdrawn by "hand" stays so until `restore`.
        """
        return self._change(
            collection, lambda c, n: _lifecycle.withdraw(c, n, document, now, reason, by)
        )

    def restore(
        self,
        collection: str,
        document: str,
        *,
        version: int | None = None,
        now: Moment,
        reason: str | None = None,
    ) -> Decided:
        """A new version with the content of an old one (default: the one that stands for the
        document), in force from now on; it holds until the source's bytes change. Of an erased
        document the tombstone goes (version 0 is returned).
        """
        return self._change(
            collection,
            lambda c, n: _lifecycle.restore(c, collection, n, document, version, now, reason),
        )

    def set_metadata(
        self,
        collection: str,
        document: str,
        fields: Mapping[str, object],
        *,
        now: Moment,
        reason: str | None = None,
    ) -> Decided:
        """Set metadata fields over what the source says. Authority, access, source, tags and
        review_by hold for later versions too, dates and the edition for this one only.
        """
        return self._change(
            collection, lambda c, n: _lifecycle.set_metadata(c, n, document, fields, now, reason)
        )

    def start_run(
        self,
        collection: str,
        *,
        now: Moment,
        kind: str = "ingest",
        settings: Mapping[str, object] | None = None,
        run_id: str | None = None,
    ) -> str:
        """Record that a run began; returns its id."""

        def work(connection: sa.Connection) -> str:
            number = _collection.ensure_collection(connection, collection, now)
            return _runs.start_run(connection, number, kind, now, settings or {}, run_id)

        return self.database.retry(work)

    def finish_run(self, run_id: str, *, now: Moment, summary: Mapping[str, object]) -> None:
        """Record how a run ended."""
        self.database.retry(lambda c: _runs.finish_run(c, run_id, now, summary))

    def runs(self, collection: str, *, limit: int = 20) -> list[Run]:
        """The latest runs, the newest first."""
        return self._read(collection, lambda c, n: _runs.list_runs(c, n, limit))

    def record_failure(
        self,
        collection: str,
        document: str,
        *,
        uri: str,
        code: str,
        message: str,
        remedy: str,
        now: Moment,
        bytes_hash: str | None = None,
        run_id: str | None = None,
    ) -> int:
        """Record that a document could not be ingested; returns how often these bytes failed.

        The last good version stays as it is; success forgets the failure.
        """

        def work(connection: sa.Connection) -> int:
            return _runs.record_failure(
                connection,
                _collection.ensure_collection(connection, collection, now),
                document,
                uri=uri,
                code=code,
                message=message,
                remedy=remedy,
                bytes_hash=bytes_hash,
                now=now,
                run_id=run_id,
            )

        return self.database.retry(work)

    def failures(self, collection: str) -> list[Failure]:
        """Documents whose last attempt failed, in order of the key."""
        return self._read(collection, _runs.list_failures)

    def forget_failure(self, collection: str, document: str) -> None:
        """Drop a failure whose source is gone."""
        self._change(collection, lambda c, n: _runs.forget_failure(c, n, document))

    # reading

    def lookup(
        self,
        collection: str,
        chunk_ids: Sequence[str],
        *,
        encoding: str | None = None,
        documents: Sequence[str] = (),
        at: Moment,
    ) -> Lookup:
        """Chunk rows by id, whatever their standing, in one statement; ids of other collections
        are not found. `documents` are pinned: their chunks in force at `at`, in order. With
        `encoding`, costs are those of that encoding.
        """
        return _lookup.lookup(
            self.database.rows,
            self.database.dialect,
            self.collection_id(collection),
            chunk_ids,
            encoding=encoding,
            documents=documents,
            at=at,
        )

    def successors(
        self, collection: str, chunk_ids: Sequence[str], at: Moment
    ) -> dict[str, ChunkRow]:
        """By old id, the chunk in force at `at` that continues it, where there is one."""
        number = self.collection_id(collection)
        return _lookup.successors(self.database.rows, self.dialect, number, chunk_ids, at)

    @contextmanager
    def snapshot(self, collection: str) -> Iterator[Snapshot]:
        """Several lookups that see the store at one moment."""
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield Snapshot(connection, self.dialect, number)

    def search(
        self, collection: str, query: str, *, top: int, at: Moment, any_status: bool = False
    ) -> list[SearchHit]:
        """Chunks for a plain question, the best first; in force at `at` unless `any_status`."""
        return self._read(collection, lambda c, n: _search.search(c, n, query, top, at, any_status))

    def documents(self, collection: str, at: Moment | None = None) -> Iterator[VersionInfo]:
        """The version that stands for each document (with `at`: in force then), by key."""
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from _documents.list_documents(connection, number, at)

    def versions(self, collection: str, document: str) -> list[VersionInfo]:
        """Every stored version of a document, with its history. Raises NotFoundError."""
        return self._read(collection, lambda c, n: _documents.list_versions(c, n, document))

    def chunks(
        self,
        collection: str,
        document: str,
        version: int | None = None,
        at: Moment | None = None,
    ) -> list[ChunkRow]:
        """A version's chunks in order: of the current version unless told otherwise."""

        def work(connection: sa.Connection, number: int) -> list[ChunkRow]:
            owner = _documents.version_id_of(connection, number, document, version, at)
            return _documents.version_chunks(connection, owner)

        return self._read(collection, work)

    def parsed(self, collection: str, document: str, version: int | None = None) -> ParsedDocument:
        """The parsed form of a version (default: the current one), to split again from."""

        def work(connection: sa.Connection, number: int) -> ParsedDocument:
            owner = _documents.version_id_of(connection, number, document, version)
            return _documents.parsed_form(connection, owner)

        return self._read(collection, work)

    # the log of packs

    def write_packs(self, collection: str, records: Sequence[PackRecord]) -> None:
        """Write pack records in one transaction; a request id that is there is left as it is."""
        self._change(collection, lambda c, n: _packlog.write_packs(c, n, records))

    def packs(
        self, collection: str, since: Moment | None = None, request_id: str | None = None
    ) -> Iterator[PackRecord]:
        """Logged packs, the oldest first."""
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from _packlog.read_packs(connection, number, since, request_id)

    def impact(self, collection: str, document: str, version: int | None = None) -> list[Impact]:
        """Which logged packs used a document."""
        return self._read(collection, lambda c, n: _packlog.impact(c, n, document, version))

    # keeping in order

    def changes(self, collection: str, since: int = 0, limit: int = 1000) -> list[Change]:
        """Entries of the change feed after the cursor `since`, at most `limit`, in commit order."""
        return self._read(collection, lambda c, n: _changes.read_changes(c, n, since, limit))

    def audit(
        self,
        collection: str,
        *,
        now: Moment,
        checks: Collection[str] | None = None,
        recount: Literal["all"] | int | None = None,
        counters: Counters | None = None,
        sources: Sources | None = None,
        index_ids: frozenset[str] | None = None,
    ) -> Iterator[Finding]:
        """Findings of CONTRACT.md's checks, as they come; memory stays flat.

        `recount` ("all" or about how many chunks) needs `counters`, which gives the counter of an
        encoding by name. `sources` is a complete listing, `index_ids` what a vector index holds.
        """
        request = AuditRequest(now, checks, recount, counters, sources, index_ids)
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from _audit.audit(connection, number, request)

    def prune(
        self,
        collection: str,
        *,
        ended_before: Moment,
        packs_before: Moment | None = None,
        with_packs: bool = False,
        now: Moment,
    ) -> Pruned:
        """Remove the content of versions that ended before a moment; those that logged packs
        used stay for replay unless `with_packs`. Packs logged before `packs_before` go too.
        """
        return _prune.prune(
            self.database,
            self.collection_id(collection),
            ended_before=ended_before,
            packs_before=packs_before,
            with_packs=with_packs,
            now=now,
        )

    def erase(self, collection: str, document: str, *, now: Moment) -> Erased:
        """Remove every version, element, feed text and logged text of a document, for good; a
        tombstone keeps it from being ingested again. Follow it with `vacuum`.
        """
        return self._change(collection, lambda c, n: _erase.erase(c, n, document, now))

    def vacuum(self) -> None:
        """Give freed room back; what was deleted is in no page afterwards. Locks the store."""
        _prune.vacuum(self.database)

    def _read(self, collection: str, work: Callable[[sa.Connection, int], T]) -> T:
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            return work(connection, number)

    def _change(self, collection: str, work: Callable[[sa.Connection, int], T]) -> T:
        number = self.collection_id(collection)
        return self.database.retry(lambda c: work(c, number))


class Snapshot:
    """Lookups within one reading transaction."""

    def __init__(self, connection: sa.Connection, dialect: str, collection_id: int) -> None:
        self._connection = connection
        self._dialect = dialect
        self._collection_id = collection_id

    def lookup(
        self,
        chunk_ids: Sequence[str],
        *,
        encoding: str | None = None,
        documents: Sequence[str] = (),
        at: Moment,
    ) -> Lookup:
        """As Store.lookup."""
        return _lookup.lookup(
            self._rows,
            self._dialect,
            self._collection_id,
            chunk_ids,
            encoding=encoding,
            documents=documents,
            at=at,
        )

    def successors(self, chunk_ids: Sequence[str], at: Moment) -> dict[str, ChunkRow]:
        """As Store.successors."""
        return _lookup.successors(self._rows, self._dialect, self._collection_id, chunk_ids, at)

    def _rows(self, statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        driver = self._connection.connection.cursor()
        try:
            driver.execute(statement, parameters)
            return driver.fetchall()  # type: ignore[return-value]
        finally:
            driver.close()
