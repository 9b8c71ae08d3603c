"""Clients of the HTTP service, with the methods of `Packer`: one for threads, one for asyncio.

For example:

    with Client("https://retrieval.example", key=os.environ["CHUNKPREP_KEY"]) as client:
        result = client.pack(PackRequest(budget=4000, candidates=hits))

    async with AsyncClient("https://retrieval.example", key=os.environ["CHUNKPREP_KEY"]) as client:
        result = await client.pack(PackRequest(budget=4000, candidates=hits))
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar

try:
    import httpx
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chunkprep_packer.client needs httpx: run `pip install 'chunkprep[client]'`",
        name=error.name,
    ) from error

from chunkprep_ingest.closing import Closing
from chunkprep_ingest.errors import RequestError
from chunkprep_packer import client_calls as calls
from chunkprep_packer.cancelling import Cancelling
from chunkprep_packer.client_calls import Address, Call
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult

T = TypeVar("T")

TIMEOUT_SECONDS = 10.0
RETRIES = 2
LONGEST_WAIT_SECONDS = 5.0
CONNECTIONS = 20
"""Open at a time; httpcore looks at each of them, for each of them, whenever one is let go."""
IDLE_SECONDS = 4.0
"""How long a connection is kept unused: the service ends one after five seconds."""


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
        self._http = httpx.Client(**_options(self._address, key, timeout, connections))

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
        """`findings` as `chunkprep audit --json` gives them, of all `checks` unless told otherwise,
        and whether there were more than one answer lists: `truncated` (role admin).
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
    ) -> list[dict[str, Any]]:
        """The logged packs of a trace, or those that their caller gave this `request_id`, the
        oldest first, with all their ids (role admin); packed `since` then (ISO 8601), if given.
        """
        return self._ask(calls.logged_packs(trace_id, caller_id, since, collection))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _ask(self, call: Call[T]) -> T:
        """What a good answer says, after as many tries as are allowed."""
        left = self._address.retries
        while True:
            try:
                answer = self._http.request(**call.sent())
            except httpx.RequestError as error:
                raise self._address.away(error) from error
            pause = self._address.pause(answer.status_code, answer.headers, left)
            if pause is None:
                return call.result(answer.status_code, answer.content)
            self._sleep(pause)
            left -= 1


class AsyncClient:
    """Packs over HTTP from asyncio, as `Client` does: its methods, results and errors.

    For any number of calls at a time, in one event loop; one that is cancelled gives its
    connection back. `aclose` it, or use it in an `async with`.
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
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._address = Address(calls.root_of(url), retries, longest_wait)
        self._sleep = sleep
        self._http = httpx.AsyncClient(**_options(self._address, key, timeout, connections))
        self._calls = Cancelling()
        self._free = asyncio.Semaphore(connections)

    @property
    def url(self) -> str:
        """The service's root."""
        return self._address.url

    async def pack(
        self,
        request: PackRequest,
        *,
        request_id: str | None = None,
        traceparent: str | None = None,
    ) -> PackResult:
        """As `Client.pack`."""
        return await self._ask(calls.pack(request, request_id, traceparent))

    async def search(
        self,
        query: str,
        *,
        top: int = 40,
        collection: str = "default",
        as_of: str | None = None,
        any_status: bool = False,
        access: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """As `Client.search`."""
        call = calls.search(
            query, top=top, collection=collection, as_of=as_of, any_status=any_status, access=access
        )
        return await self._ask(call)

    async def chunk(self, chunk_id: str, *, collection: str = "default") -> dict[str, Any]:
        """As `Client.chunk`."""
        return await self._ask(calls.chunk(chunk_id, collection))

    async def documents(
        self, *, collection: str = "default", as_of: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """As `Client.documents`, for `async for`."""
        page = await self._ask(calls.documents(collection, as_of, None))
        for document in page.documents:
            yield document
        while page.after is not None:
            page = await self._ask(calls.documents(collection, as_of, page.after))
            for document in page.documents:
                yield document

    async def changes(
        self, since: int = 0, *, collection: str = "default", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """As `Client.changes`."""
        return await self._ask(calls.changes(since, collection, limit))

    async def audit(
        self, *, collection: str = "default", checks: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """As `Client.audit`."""
        return await self._ask(calls.audit(collection, checks))

    async def logged_pack(self, request_id: str, *, collection: str = "default") -> dict[str, Any]:
        """As `Client.logged_pack`."""
        return await self._ask(calls.logged_pack(request_id, collection))

    async def logged_packs(
        self,
        *,
        trace_id: str | None = None,
        caller_id: str | None = None,
        since: str | None = None,
        collection: str = "default",
    ) -> list[dict[str, Any]]:
        """As `Client.logged_packs`."""
        return await self._ask(calls.logged_packs(trace_id, caller_id, since, collection))

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._calls.settled()
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _ask(self, call: Call[T]) -> T:
        """What a good answer says, after as many tries as are allowed."""
        left = self._address.retries
        while True:
            try:
                async with self._free:
                    answer = await self._calls.run(lambda: self._http.request(**call.sent()))
            except httpx.RequestError as error:
                raise self._address.away(error) from error
            pause = self._address.pause(answer.status_code, answer.headers, left)
            if pause is None:
                return call.result(answer.status_code, answer.content)
            await self._sleep(pause)
            left -= 1


class _Options(TypedDict):
    """What httpx's two clients are made with."""

    base_url: str
    headers: dict[str, str]
    timeout: httpx.Timeout
    limits: httpx.Limits


def _options(address: Address, key: str | None, timeout: float, connections: int) -> _Options:
    """Raises RequestError for a URL or a key that cannot be sent."""
    try:
        host = httpx.URL(address.url).host
    except httpx.InvalidURL as error:
        raise RequestError(f"url: {address.url!r} is no URL ({error})", "url") from error
    if not host:
        raise RequestError(f"url: {address.url!r} names no host; write http://HOST", "url")
    if connections < 1:
        raise RequestError(f"connections: must be at least 1, not {connections}", "connections")
    return _Options(
        base_url=address.url,
        headers=calls.authorization(key),
        timeout=httpx.Timeout(timeout, pool=None),  # waiting for one's own is nobody's silence
        limits=httpx.Limits(
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=IDLE_SECONDS,
        ),
    )
