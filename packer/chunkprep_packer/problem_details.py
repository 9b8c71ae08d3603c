"""From an answer of the HTTP service that is no success to the error that a caller knows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from chunkprep_ingest.errors import (
    ChunkprepError,
    NotFoundError,
    RequestError,
    ServiceError,
    StoreError,
    UnavailableError,
)

_LONGEST_DETAIL = 500  # characters of a foreign answer that a message repeats
_DEFAULT_WAIT_SECONDS = 1.0


def to_error(status: int, body: bytes) -> ChunkprepError:
    """The error that RFC 9457 problem details (or anything else) stand for.

    Its kind follows the member `code`, else the status.
    """
    members = _members(body)
    code, detail = str(members.get("code", "")), str(members.get("detail") or "")
    name = members.get("request_id")
    message = detail or foreign(status, body)
    if name is not None and status >= 500:
        message += f" (request {name})"
    kind = _kinds().get(code) or _of_status(status)
    if issubclass(kind, RequestError):
        field = members.get("field")
        return kind(message, None if field is None else str(field))
    if kind is ServiceError:
        return ServiceError(message, status, code or None)
    return kind(message)


def foreign(status: int, body: bytes) -> str:
    """What an answer that is not the service's own says."""
    return f"the service answered {status}: {_start(body)}"


def wait_seconds(retry_after: str | None, now: datetime) -> float:
    """The seconds that a Retry-After header asks for: a number of them, or a date (RFC 9110)."""
    if retry_after is None:
        return _DEFAULT_WAIT_SECONDS
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - now).total_seconds())
    except (ValueError, TypeError):
        return _DEFAULT_WAIT_SECONDS


def _members(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _start(body: bytes) -> str:
    return " ".join(body[:_LONGEST_DETAIL].decode("utf-8", "replace").split()) or "nothing"


def _kinds() -> dict[str, type[ChunkprepError]]:
    """The errors of requests and stores by their codes."""
    return {kind.code: kind for root in (RequestError, StoreError) for kind in _tree(root)}


def _tree(root: type[ChunkprepError]) -> Iterator[type[ChunkprepError]]:
    yield root
    for kind in root.__subclasses__():
        yield from _tree(kind)


def _of_status(status: int) -> type[ChunkprepError]:
    if status in {400, 422}:
        return RequestError
    if status == 404:
        return NotFoundError
    return UnavailableError if status in {502, 503, 504} else ServiceError
