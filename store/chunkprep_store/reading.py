"""What can be read of a store. Each method sees it at one moment."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from chunkprep_ingest.model import ChunkRow, Moment, ParsedDocument
from chunkprep_store import (
    changes,
    documents,
    lookup,
    packlog,
    packlog_listing,
    prices,
    runs,
    search,
    sizes,
)
from chunkprep_store.changes import Change
from chunkprep_store.collection import collection_id_or_none
from chunkprep_store.documents import VersionInfo
from chunkprep_store.known_documents import KnownDocument, known_documents
from chunkprep_store.lookup import Lookup
from chunkprep_store.opened import Opened
from chunkprep_store.packlog import Impact, PackRecord
from chunkprep_store.packlog_listing import EVERY_PACK, Direction, PackLine, PackQuery, Place
from chunkprep_store.recutting import open_numbers
from chunkprep_store.runs import Failure, Run
from chunkprep_store.search import SearchHit
from chunkprep_store.sizes import DocumentCounts, LargeBlock, SizeCount


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
        return lookup.lookup(
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
        return lookup.successors(self._rows, self._dialect, self._collection_id, chunk_ids, at)

    def _rows(self, statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        driver = self._connection.connection.cursor()
        try:
            driver.execute(statement, parameters)
            return driver.fetchall()  # type: ignore[return-value]
        finally:
            driver.close()


class Reading(Opened):
    """Reading: a collection that does not exist is NotFoundError."""

    def known(self, collection: str, keys: Sequence[str]) -> dict[str, KnownDocument]:
        """What is known of each document key; {} for a collection that does not exist yet."""
        with self.database.snapshot() as connection:
            number = collection_id_or_none(connection, collection)
            return {} if number is None else known_documents(connection, number, keys)

    def runs(self, collection: str, *, limit: int = 20, first: int = 0) -> list[Run]:
        """The latest runs, the newest first; from the `first` on, counted from 0."""
        return self._read(collection, lambda c, n: runs.list_runs(c, n, limit, first))

    def run_count(self, collection: str) -> int:
        """How many runs are recorded."""
        return self._read(collection, runs.count_runs)

    def failures(self, collection: str) -> list[Failure]:
        """Documents whose last attempt failed, in order of the key."""
        return self._read(collection, runs.list_failures)

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
        return lookup.lookup(
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
        return lookup.successors(self.database.rows, self.dialect, number, chunk_ids, at)

    @contextmanager
    def snapshot(self, collection: str) -> Iterator[Snapshot]:
        """Several lookups that see the store at one moment."""
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield Snapshot(connection, self.dialect, number)

    def search(
        self,
        collection: str,
        query: str,
        *,
        top: int,
        at: Moment,
        any_status: bool = False,
        access: Sequence[str] | None = None,
    ) -> list[SearchHit]:
        """Chunks for a plain question, the best first; in force at `at` unless `any_status`; with
        `access` (labels), only what a caller with these may see.
        """
        return self._read(
            collection, lambda c, n: search.search(c, n, query, top, at, any_status, access)
        )

    def documents(
        self,
        collection: str,
        at: Moment | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
        access: Collection[str] | None = None,
    ) -> Iterator[VersionInfo]:
        """The version that stands for each document (with `at`: in force then), by key: at most
        `limit` of those `after` a key; with `access` (labels), what a caller with these may see.
        """
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from documents.list_documents(
                connection, number, at, after=after, limit=limit, access=access
            )

    def standing(self, collection: str) -> dict[str, str]:
        """The URIs that documents were read from which are active, or drafts, by key."""
        return self._read(collection, documents.standing_uris)

    def versions(self, collection: str, document: str) -> list[VersionInfo]:
        """Every stored version of a document, with its history. Raises NotFoundError."""
        return self._read(collection, lambda c, n: documents.list_versions(c, n, document))

    def chunks(
        self,
        collection: str,
        document: str,
        version: int | None = None,
        at: Moment | None = None,
    ) -> list[ChunkRow]:
        """A version's chunks in order: of the current version unless told otherwise."""

        def work(connection: sa.Connection, number: int) -> list[ChunkRow]:
            owner = documents.version_id_of(connection, number, document, version, at)
            return documents.version_chunks(connection, owner)

        return self._read(collection, work)

    def parsed(self, collection: str, document: str, version: int | None = None) -> ParsedDocument:
        """The parsed form of a version (default: the current one), to split again from."""

        def work(connection: sa.Connection, number: int) -> ParsedDocument:
            owner = documents.version_id_of(connection, number, document, version)
            return documents.parsed_form(connection, owner)

        return self._read(collection, work)

    def open_versions(self, collection: str, document: str, *, at: Moment) -> list[VersionInfo]:
        """The versions in force at `at` or still to come (drafts too): what a new cut is for."""

        def work(connection: sa.Connection, number: int) -> list[VersionInfo]:
            wanted = open_numbers(connection, number, document, at)
            found = documents.list_versions(connection, number, document) if wanted else []
            return [info for info in found if info.version in wanted]

        return self._read(collection, work)

    def document_counts(self, collection: str, *, at: Moment) -> DocumentCounts:
        """How many documents are in force at `at`, and how many there are."""
        return self._read(collection, lambda c, n: sizes.document_counts(c, n, at))

    def sizes(self, collection: str, *, at: Moment) -> list[SizeCount]:
        """The chunks in force at `at`, counted by cap and size in tokens, the smallest first."""
        return self._read(collection, lambda c, n: sizes.size_counts(c, n, at))

    def kinds(self, collection: str, *, at: Moment) -> dict[str, int]:
        """The chunks in force at `at` counted by kind, the most frequent first."""
        return self._read(collection, lambda c, n: sizes.kind_counts(c, n, at))

    def largest(self, collection: str, *, at: Moment, limit: int = 10) -> list[LargeBlock]:
        """The largest blocks in force at `at`, the largest first."""
        return self._read(collection, lambda c, n: sizes.largest(c, n, at, limit))

    def packs(
        self,
        collection: str,
        since: Moment | None = None,
        request_id: str | None = None,
        *,
        holds: str | None = None,
    ) -> Iterator[PackRecord]:
        """Logged packs, the oldest first; with `holds`, those whose request's JSON has this text in
        it, in capitals or not: looking for it reads the requests of all packs since then.
        """
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from packlog.read_packs(connection, number, since, request_id, holds)

    def pack_lines(
        self,
        collection: str,
        query: PackQuery = EVERY_PACK,
        *,
        limit: int,
        place: Place | None = None,
        direction: Direction = "after",
    ) -> list[PackLine]:
        """Logged packs to list, the newest first (by id where only the start of one is asked for):
        at most `limit` after, or before, a place in that order.
        """
        return self._read(
            collection,
            lambda c, n: packlog_listing.list_packs(c, n, query, limit, place, direction),
        )

    def pack_count(self, collection: str, query: PackQuery = EVERY_PACK) -> int:
        """How many packs are logged, of those asked for."""
        return self._read(collection, lambda c, n: packlog_listing.count_packs(c, n, query))

    def impact(self, collection: str, document: str, version: int | None = None) -> list[Impact]:
        """Which logged packs used a document."""
        return self._read(collection, lambda c, n: packlog.impact(c, n, document, version))

    def changes(self, collection: str, since: int = 0, limit: int = 1000) -> list[Change]:
        """Entries of the change feed after the cursor `since`, at most `limit`, in commit order."""
        return self._read(collection, lambda c, n: changes.read_changes(c, n, since, limit))

    def encodings(self, collection: str) -> list[str]:
        """The encodings that chunks of a collection have prices in, by name."""
        return self._read(collection, prices.priced_encodings)

    def unpriced(self, collection: str, encoding: str) -> Generator[ChunkRow]:
        """Chunks that have no price in an encoding yet; memory stays flat. On SQLite, write
        between batches: read some, close the iterator, `put_prices`, and go on.
        """
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from prices.unpriced_chunks(connection, number, encoding)
