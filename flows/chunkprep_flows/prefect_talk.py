"""What Prefect says on a terminal, in our words: a failure is one line, and no traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from chunkprep_ingest.errors import UnavailableError

_AWAY = "Failed to reach API"
"""How Prefect begins what it says of a flow whose API does not answer."""


@contextmanager
def api_reached() -> Iterator[None]:
    """Within it Prefect finds its API. Raises UnavailableError, which names it, where it is not."""
    import httpx

    try:
        yield
    except (httpx.TransportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not str(error).startswith(_AWAY):
            raise
        from prefect.settings import PREFECT_API_URL

        raise UnavailableError(
            f"the Prefect API at {PREFECT_API_URL.value()} does not answer; start it, or set "
            f"PREFECT_API_URL to one that runs; `chunkprep ingest --direct` needs none"
        ) from error


def leave_out_tracebacks() -> None:
    """Keep exceptions off the terminal where Prefect's log is quiet there: a failed run is told by
    whoever started it, and Prefect's server has the traceback. That its server cannot be told of a
    record goes unsaid, too.
    """
    from prefect.logging.handlers import PrefectConsoleHandler

    for handler in logging.getLogger().handlers:
        quiet = handler.level >= logging.WARNING and isinstance(handler, PrefectConsoleHandler)
        if quiet and _no_exception not in handler.filters:
            handler.addFilter(_no_exception)
            logging.raiseExceptions = False


def _no_exception(record: logging.LogRecord) -> bool:
    return not (record.exc_info and record.name.startswith("prefect"))
