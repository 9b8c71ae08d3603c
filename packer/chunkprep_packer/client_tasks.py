"""Cancelled calls that leave no connection behind.

asyncio cancels a task in whatever it awaits, the clean-up of httpcore included, for httpcore's
shields (1.0.9) hold against anyio's way of cancelling only. A connection that is interrupted on its
way back to the pool is lost to it, and once all are lost every further call waits for ever. So
each call runs in a task of its own, which is cancelled in anyio's way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from anyio import CancelScope

T = TypeVar("T")


class Cancelling:
    """Runs calls, and knows those that were cancelled and are still on their way out."""

    def __init__(self) -> None:
        self._ending: set[asyncio.Task[Any]] = set()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` gives; where the caller is cancelled, `work` ends soon after."""
        scope = CancelScope()
        task = asyncio.create_task(_within(scope, work))
        try:
            await asyncio.wait((task,))
        except BaseException:
            self._ending.add(task)
            task.add_done_callback(self._ended)
            scope.cancel()
            raise
        return task.result()

    async def settled(self) -> None:
        """Wait for what was cancelled to end."""
        if self._ending:
            await asyncio.wait(self._ending)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._ending.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio would complain that nobody did


async def _within(scope: CancelScope, work: Callable[[], Awaitable[T]]) -> T:
    with scope:
        return await work()
    raise asyncio.CancelledError
