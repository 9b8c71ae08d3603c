"""Both clients of the service, so that one test holds for either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest

from chunkprep_ingest.closing import Closing
from chunkprep_packer.client import AsyncClient, Client

T = TypeVar("T")


class Driven(Closing):
    """An AsyncClient whose calls are awaited one by one, in an event loop of its own."""

    def __init__(
        self, url: str, *, sleep: Callable[[float], object] | None = None, **options: Any
    ) -> None:
        if sleep is not None:

            async def pause(seconds: float) -> None:
                sleep(seconds)

            options["sleep"] = pause
        self.awaited = AsyncClient(url, **options)
        self._runner = asyncio.Runner()

    def close(self) -> None:
        self._runner.run(self.awaited.aclose())
        self._runner.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.awaited, name)

        def call(*args: Any, **options: Any) -> Any:
            found = method(*args, **options)
            listed = isinstance(found, AsyncIterator)
            return self._runner.run(_listed(found) if listed else found)

        return call


async def _listed(found: AsyncIterator[T]) -> list[T]:
    return [each async for each in found]


Connect = Callable[..., Any]
"""Client, or Driven."""

both_clients = pytest.mark.parametrize(
    "connect", [pytest.param(Client, id="Client"), pytest.param(Driven, id="AsyncClient")]
)
