"""A Prefect API that goes away while a schedule is served: that is told, and it is waited for.

Prefect's runner on its own logs a traceback at once, and ends after three questions without an
answer, some minutes later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import httpx

from chunkprep_flows.console import talk

_LATE_SECONDS = 10.0
"""So long an answer may take: Prefect's client asks again for a minute before it gives up."""

_STREAM = "prefect.FlowRunCancellingObserver"
"""The logger that hears of a stream of events which the API no longer sends."""


class Answering:
    """Tells when the API stops to answer, and when it answers again; once each."""

    def __init__(self) -> None:
        self._away = False

    def outliving(self, ask: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """`ask`, which an API that is away does not make fail: it is to be asked again."""

        async def asked() -> None:
            late = asyncio.get_running_loop().call_later(_LATE_SECONDS, self._goes_away)
            try:
                await ask()
            except httpx.TransportError:
                self._goes_away()
            except httpx.HTTPStatusError as error:
                if not error.response.is_server_error:
                    raise
                self._goes_away()
            else:
                self._is_back()
            finally:
                late.cancel()

        return asked

    def _goes_away(self) -> None:
        if not self._away:
            talk("the Prefect API does not answer; runs that come due meanwhile are made up by one")
        self._away = True

    def _is_back(self) -> None:
        if self._away:
            talk("the Prefect API answers again")
        self._away = False


def tolerant(ask: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """`ask`, which an API that cannot be reached does not make fail; nothing is told of it."""

    async def asked() -> None:
        with suppress(httpx.TransportError):
            await ask()

    return asked


def leave_out_streams() -> None:
    """Keep the end of the stream of events off the terminal: the API is asked instead."""
    logging.getLogger(_STREAM).addFilter(_no_lost_stream)


def _no_lost_stream(record: logging.LogRecord) -> bool:
    return "websocket" not in record.getMessage()
