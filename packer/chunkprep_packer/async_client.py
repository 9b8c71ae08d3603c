"""The client of the HTTP service for asyncio; `chunkprep_packer.client` offers it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from chunkprep_packer import client_calls as calls
from chunkprep_packer.client_calls import Address, Call
from chunkprep_packer.client_connections import (
    CONNECTIONS,
    LONGEST_WAIT_SECONDS,
    RETRIES,
    TIMEOUT_SECONDS,
    NoAnswer,
    for_asyncio,
    refuse_closed,
)
from chunkprep_packer.client_tasks import Cancelling
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult

T = TypeVar("T")


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
        self._http = for_asyncio(self._address, key, timeout, connections)
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
    ) -> dict[str, Any]:
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
        refuse_closed(self._http)
        left = self._address.retries
        while True:
            try:
                async with self._free:
                    answer = await self._calls.run(lambda: self._http.request(**call.sent()))
            except NoAnswer as error:
                raise self._address.away(error) from error
            pause = self._address.pause(answer.status_code, answer.headers, left)
            if pause is None:
                return call.result(answer.status_code, answer.content)
            await self._sleep(pause)
            left -= 1
