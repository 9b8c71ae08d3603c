"""What the handlers share: the packer, opened when it is first needed, and the keys.

The database may be away when a worker starts, or later: each call says so (UnavailableError), and
the first one after its return succeeds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from chunkprep_ingest.errors import SchemaError, StoreError, UnavailableError
from chunkprep_packer.packer import Packer
from chunkprep_packer.service.keys import EVERYTHING, Grant, recognise, token_of
from chunkprep_packer.service.problems import UNAUTHORIZED, ProblemError
from chunkprep_packer.service.settings import ServiceSettings
from chunkprep_store import Store
from chunkprep_store.keys import ApiKey

KEYS_SECONDS = 2.0
"""How old the list of keys may be: a revoked key opens nothing after this."""
LITTLE = 16_384
"""Bytes of a request that is packed in a few milliseconds: some 200 candidates without vectors."""


class OpenedService:
    """The packer and the keys of one worker process. Safe to share between threads."""

    def __init__(
        self, settings: ServiceSettings, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._packer: Packer | None = None
        self._keys: tuple[float, Sequence[ApiKey]] | None = None

    @property
    def packer(self) -> Packer:
        """The packer. Raises SchemaError and UnavailableError while the store cannot be opened."""
        if self._packer is None:
            with self._lock:
                if self._packer is None:
                    self._packer = self._opened()
        return self._packer

    @property
    def store(self) -> Store:
        """The packer's store."""
        return self.packer.store

    @property
    def log_losses(self) -> int:
        """Pack log records lost so far."""
        return 0 if self._packer is None else self._packer.log_losses

    def at_once(self, size: int) -> bool:
        """Whether to pack for a body of `size` bytes in the event loop: where there is nothing to
        wait for and little to do, handing it to a thread and back costs more than it gives.
        """
        return self._packer is not None and size <= LITTLE and not self._packer.waits

    def grant(self, authorization: str | None) -> Grant:
        """What a caller with this Authorization header may do. Raises ProblemError (401).

        A revoked key still counts as configured: revoking the last one opens nothing.
        """
        keys = self._known_keys()
        if not keys and self.settings.loopback:
            return EVERYTHING
        found = recognise(token_of(authorization or ""), keys)
        if found is None:
            raise ProblemError(UNAUTHORIZED)
        return found

    def close(self) -> None:
        """Write what is still to be logged, and let go of the store."""
        if self._packer is not None:
            self._packer.close()

    def _opened(self) -> Packer:
        try:
            return Packer.open(self.settings.store)
        except (SchemaError, UnavailableError):
            raise
        except StoreError as error:  # its file is not there, say: it may be, the next time
            raise UnavailableError(str(error)) from error

    def _known_keys(self) -> Sequence[ApiKey]:
        known = self._keys
        if known is None or self._clock() - known[0] > KEYS_SECONDS:
            known = self._clock(), self.store.api_keys()
            self._keys = known
        return known[1]
