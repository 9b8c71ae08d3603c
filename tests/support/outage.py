"""A database that goes away, and what notices that it is tried again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg


class Outage:
    """A database that nobody can reach for some seconds."""

    def __init__(self, server: str, url: str) -> None:
        self.server = server
        self.name = url.partition("?")[0].rpartition("/")[2]

    def begin(self) -> None:
        """Nobody can connect any more, and whoever was is thrown out."""
        self._say(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS false")
        self._say(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}'"
        )

    def end(self) -> None:
        """It is back."""
        self._say(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS true")

    def _say(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def at_each_retry(call: Callable[[], object]) -> Iterator[None]:
    """Within it `call` is called whenever Prefect says that it will try a task again."""

    class Hears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "- Retry " in record.getMessage():
                call()

    log, handler = logging.getLogger("prefect.task_runs"), Hears()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
