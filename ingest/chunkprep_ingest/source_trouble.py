"""Which trouble of a remote source may be over in a moment, whatever library tells of it.

A refused connection, a time-out, a server that is busy or broken; not a wrong name, a missing
object, a refused credential.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERRNOS = frozenset(
    {errno.EBUSY, errno.EAGAIN, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH}
)
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


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    if isinstance(error, OSError) and error.errno in _ERRNOS:
        return True
    if any(kind.__name__ in _NAMES for kind in type(error).__mro__):
        return True
    own = getattr(error, "__dict__", {})  # no property: reading one may warn
    statuses = (own.get(name) for name in ("status", "status_code", "code"))
    return any(_number(status) in _STATUSES for status in statuses)


def _number(status: object) -> int | None:
    text = str(status)
    return int(text) if text.isdigit() else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
