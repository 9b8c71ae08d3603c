"""What a fork leaves behind: connections and threads belong to the process that opened them."""

from __future__ import annotations

import os

from chunkprep_ingest.errors import StoreError


class OwnProcess:
    """The process in which this was made.

    A forked child shares the sockets of its parent, and has none of its threads: what it sent
    would end up among the parent's answers, and whatever a thread was to write never is.
    """

    def __init__(self) -> None:
        self._number = os.getpid()

    def here(self) -> bool:
        """Whether this is that process."""
        return os.getpid() == self._number

    def require(self) -> None:
        """Raise StoreError in another process."""
        if not self.here():
            raise StoreError(
                f"the store was opened in another process, which this one was forked from; open a "
                f"Packer or a Store in each process, after the fork (opened in {self._number}, "
                f"this is {os.getpid()})"
            )
