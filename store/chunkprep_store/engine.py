"""Connections: SQLite in WAL mode with one writer at a time, PostgreSQL through psycopg 3."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    OperationalError,
)

from chunkprep_ingest.errors import (
    ConflictError,
    DiskError,
    RejectedError,
    StoreError,
    UnavailableError,
)
from chunkprep_store.own_process import OwnProcess
from chunkprep_store.sqlite_file import OpenedFile, SqliteFile, sqlite_file

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

BUSY_SECONDS = 60.0
"""How long a SQLite writer waits for the one before it, in all."""
BUSY_SLICE_SECONDS = 0.5
"""How long at a time: a signal is handled in between."""
BUSY_TOLD_SECONDS = 5.0
"""After how long it says so, as a warning of this module's log."""
HURRIED_SECONDS = 2.0
"""How long it waits where the process is in a hurry to end."""
ATTEMPTS = 12
"""Tries of a transaction that collides with another one, before ConflictError."""

_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
_RETRY_STATES = {"40001", "40P01", "55P03"}
"""PostgreSQL: serialization failure, deadlock, lock not available."""
_KEY_STATES = {"23503", "23505"}
"""PostgreSQL: foreign key violation, unique violation."""


def parse_url(url: str) -> sa.URL:
    """The store's URL with our drivers. Raises StoreError for what is no store."""
    try:
        parsed = sa.make_url(url)
    except ArgumentError as error:
        raise StoreError(
            f"{url!r} is no store; write sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        ) from error
    backend = parsed.get_backend_name()
    if backend not in _DRIVERS:
        raise StoreError(f"{backend} is no store that chunkprep knows; use sqlite or postgresql")
    if backend == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise StoreError("a SQLite store is a file; write sqlite:///FILE")
    return parsed.set(drivername=_DRIVERS[backend])


class Database:
    """One database: an engine for transactions, and one for single statements without any.

    `fresh` tells that the SQLite file does not exist yet, `read_only` that it cannot be written.
    `hurried` is asked, while a SQLite writer waits for another one, whether to give that up soon.
    """

    def __init__(self, url: str, hurried: Callable[[], bool] = bool) -> None:
        self.process = OwnProcess()
        self.hurried = hurried
        self.url = parse_url(url)
        self.dialect = self.url.get_backend_name()
        self.file = sqlite_file(self.url) if self.dialect == "sqlite" else None
        self.fresh = self.file is not None and self.file.fresh
        self.read_only = self.file is not None and self.file.read_only
        self._opened = None if self.file is None else OpenedFile(self.file.path)
        if self.file is not None and self._opened is not None:
            self.engine, self._single = _sqlite_engines(self.url, self.file, self._opened)
        else:
            self.engine, self._single = _postgres_engines(self.url)

    @property
    def shown_url(self) -> str:
        """Where it is, as people write it: without its password and the driver's name."""
        return self.url.set(drivername=self.dialect).render_as_string(hide_password=True)

    def close(self) -> None:
        """Close every pooled connection; those of the process that this one was forked from stay
        as they are.
        """
        if self.process.here():
            self.engine.dispose()
            self._single.dispose()

    def require_in_place(self) -> None:
        """Raise StoreMovedError where the SQLite file is not the one that was opened any more."""
        if self._opened is not None:
            self._opened.require()

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that may write; on SQLite it holds the write lock from the start.

        Raises StoreError where the store is read-only.
        """
        self.process.require()
        if self.read_only:
            raise StoreError(f"{self.url.database} is read-only; nothing was changed")
        with _translated(), self.engine.connect() as connection:
            connection = connection.execution_options(
                chunkprep_begin="BEGIN IMMEDIATE", chunkprep_waited=self._waited_enough
            )
            with connection.begin():
                yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A reading transaction: all its statements see the database as of its first."""
        self.process.require()
        options: dict[str, Any] = {"chunkprep_begin": "BEGIN"}
        if self.dialect == "postgresql":
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with _refusals(), _translated(), self.engine.connect() as connection:
            connection = connection.execution_options(**options)
            with connection.begin():
                yield connection

    def retry(self, work: Callable[[sa.Connection], T]) -> T:
        """`work` in a writing transaction, again (with jitter) when another writer collides.

        Raises ConflictError after ATTEMPTS tries; on SQLite after BUSY_SECONDS too.
        """
        began = time.monotonic()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.write() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not _collision(error):
                    raise _refused(error) from error
                seconds = time.monotonic() - began
                if attempt == ATTEMPTS or self._waited_enough(seconds):
                    raise ConflictError(
                        f"other writers collided with this one for {seconds:.0f} s; let them end, "
                        f"and run it again ({error.orig})"
                    ) from error
            time.sleep(random.uniform(0, min(2.0, 0.01 * 2**attempt)))  # noqa: S311 - jitter
        raise AssertionError("unreachable")

    def _waited_enough(self, seconds: float) -> bool:
        """Whether a SQLite writer gives up; PostgreSQL has its own limits for a wait."""
        if self.file is None:
            return False
        return seconds >= BUSY_SECONDS or (seconds >= HURRIED_SECONDS and self.hurried())

    def rows(self, statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Rows of one statement in the driver's own words and placeholders, at its own speed.

        A connection that the server has dropped is replaced once. Raises UnavailableError.
        """
        try:
            return self._rows(statement, parameters)
        except _DroppedError:
            self._single.dispose()  # the others were dropped with it
        try:
            return self._rows(statement, parameters)
        except _DroppedError as error:
            raise _unanswered(error) from error

    def _rows(self, statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        connection = self._raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(statement, parameters)
            return cursor.fetchall()  # type: ignore[return-value]
        except Exception as error:
            if self._disconnected(error, connection.dbapi_connection):
                connection.invalidate()
                raise _DroppedError(str(error)) from error
            raise
        finally:
            connection.close()

    def _raw_connection(self) -> sa.PoolProxiedConnection:
        """A pooled connection; connecting raises the driver's own error, which nobody wraps."""
        self.process.require()
        dbapi = self._single.dialect.dbapi
        assert dbapi is not None
        try:
            with _translated():
                return self._single.raw_connection()
        except dbapi.OperationalError as error:
            raise _unanswered(error) from error

    def _disconnected(self, error: Exception, connection: Any) -> bool:
        dbapi = self._single.dialect.dbapi
        return (
            dbapi is not None
            and isinstance(error, dbapi.Error)
            and self._single.dialect.is_disconnect(error, connection, None)
        )


class _DroppedError(Exception):
    """The server closed the connection."""


@contextmanager
def _refusals() -> Iterator[None]:
    """Whatever else a database says, as StoreError."""
    try:
        yield
    except DBAPIError as error:
        raise _refused(error) from error


def _refused(error: DBAPIError) -> StoreError:
    if isinstance(error, (DataError, IntegrityError)):
        return RejectedError(f"the database rejected a row: {error.orig}")
    for trouble, remedy in _DISK_TROUBLE.items():
        if getattr(error.orig, "sqlstate", None) in trouble or str(error.orig) in trouble:
            return DiskError(f"the database: {error.orig}; {remedy}")
    return StoreError(f"the database refused: {error.orig}; check --store")


_DISK_TROUBLE = {
    ("database or disk is full", "53100"): "free space and run it again; what was stored is kept",
    ("disk I/O error", "58030"): "check the disk, then run `chunkprep audit`",
    ("database disk image is malformed", "XX001", "XX002"): "restore a backup of the store",
}
"""What SQLite says of its file, and PostgreSQL's codes for the same; the remedy of each."""


@contextmanager
def _translated() -> Iterator[None]:
    """A lost or refused connection as UnavailableError."""
    try:
        yield
    except OperationalError as error:
        if error.connection_invalidated or _unreachable(error):
            raise _unanswered(error.orig) from error
        raise


def _unanswered(said: object) -> UnavailableError:
    """What a driver says in several lines, in one."""
    reason = " ".join(str(said).split()).rstrip(".?")
    return UnavailableError(
        f"the database does not answer: {reason}; check --store and that it runs"
    )


def _unreachable(error: OperationalError) -> bool:
    state = getattr(error.orig, "sqlstate", "")
    if state is None:  # psycopg: no server answered
        return True
    return state[:2] in ("08", "57") or "unable to open database" in str(error.orig)


def _collision(error: DBAPIError) -> bool:
    if isinstance(error, OperationalError) and "locked" in str(error.orig):
        return True
    return getattr(error.orig, "sqlstate", None) in _RETRY_STATES or _lost_race(error)


def _lost_race(error: DBAPIError) -> bool:
    """A key that another PostgreSQL writer took, or removed, first. A chunk's own keys are no race:
    the document is locked. SQLite has one writer and so none.
    """
    constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
    keys = getattr(error.orig, "sqlstate", None) in _KEY_STATES
    return keys and "chunks" not in (constraint or "chunks")


def _sqlite_engines(
    url: sa.URL, file: SqliteFile, opened: OpenedFile
) -> tuple[sa.Engine, sa.Engine]:
    target = file.reading_url() if file.read_only else url
    engine = sa.create_engine(target, connect_args={"timeout": BUSY_SECONDS})
    pragmas = _READING_PRAGMAS if file.read_only else _PRAGMAS

    def prepare(connection: Any, record: object) -> None:
        del record
        _prepare_sqlite(connection, pragmas)
        opened.remember()

    def check(*_: object) -> None:
        opened.require()

    event.listen(engine, "do_connect", check)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin_sqlite)
    return engine, engine


def _prepare_sqlite(connection: Any, pragmas: Sequence[str]) -> None:
    connection.isolation_level = None  # no hidden BEGIN: ours are explicit
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise


_PRAGMAS = (
    f"busy_timeout = {BUSY_SECONDS * 1000:.0f}",
    "page_size = 8192",  # of a new file: three or four chunks a page
    "journal_mode = WAL",
    "wal_autocheckpoint = 4096",  # pages
    "synchronous = NORMAL",  # safe against a killed process; in WAL never corrupt
    "foreign_keys = ON",
    "cache_size = -8192",  # KiB; no mmap, so that memory does not grow with the store
)

_READING_PRAGMAS = tuple(p for p in _PRAGMAS if p.split()[0] in ("busy_timeout", "cache_size"))


def _begin_sqlite(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    begin = options.get("chunkprep_begin", "BEGIN")
    if begin == "BEGIN":
        connection.exec_driver_sql(begin)
    else:
        _begin_when_free(connection, begin, options["chunkprep_waited"])


def _begin_when_free(
    connection: sa.Connection, begin: str, waited_enough: Callable[[float], bool]
) -> None:
    """Wait for the write lock, slice by slice. Raises OperationalError once that is enough."""
    began = time.monotonic()
    told = False
    _set_busy_timeout(connection, BUSY_SLICE_SECONDS)
    try:
        while True:
            try:
                connection.exec_driver_sql(begin)
                return
            except OperationalError as error:
                seconds = time.monotonic() - began
                if not _collision(error) or waited_enough(seconds):
                    raise
            if seconds >= BUSY_TOLD_SECONDS and not told:
                told = True
                _LOG.warning("waiting for another writer of %s", connection.engine.url.database)
    finally:
        _set_busy_timeout(connection, BUSY_SECONDS)


def _set_busy_timeout(connection: sa.Connection, seconds: float) -> None:
    """Through the driver: this is done for every transaction."""
    sqlite: Any = connection.connection.dbapi_connection
    sqlite.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}").close()


def _postgres_engines(url: sa.URL) -> tuple[sa.Engine, sa.Engine]:
    try:
        engine = sa.create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=24)
        single = sa.create_engine(
            url, isolation_level="AUTOCOMMIT", pool_reset_on_return=None, pool_size=8,
            max_overflow=24,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        raise StoreError(
            "PostgreSQL needs psycopg; install it with `pip install chunkprep[postgres]`"
        ) from error
    return engine, single
