"""What ails a remote source, and whether it may be over in a moment, whatever library tells.

A refused connection, a time-out, a server that is busy or broken; not a wrong name, a missing
object, a refused credential.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from http import HTTPStatus

_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERRNOS = frozenset(
    {errno.EBUSY, errno.EAGAIN, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH}
)
_FAILURES = range(400, 600)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NAMES = frozenset({
    "EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ConnectionClosedError",
    "HTTPClientError",  # botocore
    "ClientConnectionError", "ServerTimeoutError", "ClientPayloadError",  # aiohttp
    "ServiceRequestError", "ServiceResponseError",  # azure
})  # fmt: skip
"""Classes of libraries that need not be there; a subclass counts too."""


def is_passing(error: BaseException) -> bool:
    """Whether the error, or what it came from, is of that kind."""
    return any(_is_passing(each) for each in _causes(error))


def reason_of(error: BaseException) -> str | None:
    """The status of the answer, or what the system says, of the error or what it came from; None
    where neither is told.
    """
    causes = list(_causes(error))
    status = next((status for each in causes if (status := _status(each))), None)
    if status is not None:
        return f"HTTP {status} {_PHRASES.get(status, '')}".rstrip()
    errors = [each for each in causes if isinstance(each, OSError) and each.errno]
    refused = [os.strerror(each.errno or 0) for each in errors if isinstance(each, ConnectionError)]
    return next((str(text) for text in [*refused, *(e.strerror for e in errors)] if text), None)


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    if isinstance(error, OSError) and error.errno in _ERRNOS:
        return True
    if any(kind.__name__ in _NAMES for kind in type(error).__mro__):
        return True
    return _status(error) in _STATUSES


def _status(error: BaseException) -> int | None:
    """The HTTP status that the error carries."""
    own = getattr(error, "__dict__", {})  # no property: reading one may warn
    numbers = (_number(own.get(name)) for name in ("status", "status_code", "code"))
    return next((number for number in numbers if number is not None and number in _FAILURES), None)


def _number(status: object) -> int | None:
    text = str(status)
    return int(text) if text.isdigit() else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
