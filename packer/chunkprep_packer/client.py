"""Clients of the HTTP service, with the methods of `Packer`: one for threads, one for asyncio.

For example:

    with Client("https://retrieval.example", key=os.environ["CHUNKPREP_KEY"]) as client:
        result = client.pack(PackRequest(budget=4000, candidates=hits))

    async with AsyncClient("https://retrieval.example", key=os.environ["CHUNKPREP_KEY"]) as client:
        result = await client.pack(PackRequest(budget=4000, candidates=hits))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from chunkprep_ingest.closing import Closing
from chunkprep_packer import client_calls as calls
from chunkprep_packer.async_client import AsyncClient
from chunkprep_packer.client_calls import Address, Call
from chunkprep_packer.client_connections import (
    CONNECTIONS,
    LONGEST_WAIT_SECONDS,
    RETRIES,
    TIMEOUT_SECONDS,
    NoAnswer,
    for_threads,
    refuse_closed,
)
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult

__all__ = ["AsyncClient", "Client"]

T = TypeVar("T")


class Client(Closing):
    """Packs over HTTP. Safe to share between threads; `close` it, or use it in a `with`.

    `url` is the service's root, `key` its API key, `timeout` seconds for connecting and for each
    answer. An answer 503 is asked again up to `retries` times, after the seconds of its
    Retry-After, but never more than `longest_wait` of them. Calls beyond `connections` at a time
    wait for one to be free, for as long as that takes. Every problem is a ChunkprepError: the kind
    that `Packer` raises, UnavailableError where nobody answers, else ServiceError; a `url` that is
    none is a RequestError.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        longest_wait: float = LONGEST_WAIT_SECONDS,
        connections: int = CONNECTIONS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._address = Address(calls.root_of(url), retries, longest_wait)
        self._sleep = sleep
        self._http = for_threads(self._address, key, timeout, connections)

    @property
    def url(self) -> str:
        """The service's root."""
        return self._address.url

    def pack(
        self,
        request: PackRequest,
        *,
        request_id: str | None = None,
        traceparent: str | None = None,
    ) -> PackResult:
        """Pack, log, and answer.

        The service names the pack, in the result's `request_id`; one given here stands beside it in
        the log, as `caller_id`, as does `traceparent` (W3C Trace Context), where it is a valid one.
        Raises RequestError and its kinds, NotFoundError, UnavailableError and ServiceError.
        """
        return self._ask(calls.pack(request, request_id, traceparent))

    def search(
        self,
        query: str,
        *,
        top: int = 40,
        collection: str = "default",
        as_of: str | None = None,
        any_status: bool = False,
        access: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Candidates by the database's own text search, best first; `as_of` is ISO 8601.

        `access`: the labels to look with (default: all that the key has). Raises as `pack` does.
        """
        call = calls.search(
            query, top=top, collection=collection, as_of=as_of, any_status=any_status, access=access
        )
        return self._ask(call)

    def chunk(self, chunk_id: str, *, collection: str = "default") -> dict[str, Any]:
        """One chunk, whatever its standing, as `chunkprep chunks --json` shows it.

        Raises NotFoundError, and as `pack` does.
        """
        return self._ask(calls.chunk(chunk_id, collection))

    def documents(
        self, *, collection: str = "default", as_of: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Every document, by key, as `chunkprep docs --json` shows it; asked for page by page."""
        page = self._ask(calls.documents(collection, as_of, None))
        yield from page.documents
        while page.after is not None:
            page = self._ask(calls.documents(collection, as_of, page.after))
            yield from page.documents

    def changes(
        self, since: int = 0, *, collection: str = "default", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Entries of the change feed after the cursor `since`, in commit order (role admin)."""
        return self._ask(calls.changes(since, collection, limit))

    def audit(
        self, *, collection: str = "default", checks: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """`findings` as `chunkprep audit --json` gives them, of all `checks` but `pack_log` unless
        told otherwise, and whether there were more than one answer lists: `truncated` (role admin).
        """
        return self._ask(calls.audit(collection, checks))

    def logged_pack(self, request_id: str, *, collection: str = "default") -> dict[str, Any]:
        """A pack as logged: `request`, and `result` with a decision on each candidate (role admin).

        It is in the log within a second of its answer. Raises NotFoundError, and as `pack` does.
        """
        return self._ask(calls.logged_pack(request_id, collection))

    def logged_packs(
        self,
        *,
        trace_id: str | None = None,
        caller_id: str | None = None,
        since: str | None = None,
        collection: str = "default",
    ) -> dict[str, Any]:
        """`packs`: those of a trace, or that their caller gave this `request_id`, the oldest
        first, with all their ids (role admin); packed `since` then (ISO 8601), if given. And
        whether there were more than one answer lists: `truncated`.
        """
        return self._ask(calls.logged_packs(trace_id, caller_id, since, collection))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _ask(self, call: Call[T]) -> T:
        """What a good answer says, after as many tries as are allowed."""
        refuse_closed(self._http)
        left = self._address.retries
        while True:
            try:
                answer = self._http.request(**call.sent())
            except NoAnswer as error:
                raise self._address.away(error) from error
            pause = self._address.pause(answer.status_code, answer.headers, left)
            if pause is None:
                return call.result(answer.status_code, answer.content)
            self._sleep(pause)
            left -= 1
