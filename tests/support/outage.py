"""A database that goes away."""

from __future__ import annotations

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
