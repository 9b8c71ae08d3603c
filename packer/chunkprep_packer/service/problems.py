"""RFC 9457 problem details: what a client is told when something is wrong, and nothing more.

Messages of the request's own errors are the client's; those of the database (hosts, SQL) are not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

import orjson

from chunkprep_ingest.errors import (
    ChunkprepError,
    ConflictError,
    NotFoundError,
    RequestError,
    SchemaError,
    StoreMovedError,
    UnavailableError,
)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
"""What Retry-After says while the database is away."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `code` is stable; `field` names the part of the request to change."""

    status: int
    code: str
    detail: str
    field: str | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def body(self, request_id: str) -> bytes:
        """The JSON object."""
        members: dict[str, object] = {
            "type": f"urn:chunkprep:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id,
        }
        if self.field is not None:
            members["field"] = self.field
        return orjson.dumps(members)


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)


UNAUTHORIZED = Problem(
    401,
    "unauthorized",
    "this needs a valid API key: send `Authorization: Bearer KEY`",
    headers={"WWW-Authenticate": "Bearer"},
)
INTERNAL = Problem(500, "internal", "the service failed; its log says why under this request_id")


def too_large(limit: int) -> Problem:
    """The problem of a body over the limit (bytes)."""
    return Problem(413, "too_large", f"the body is over {limit} bytes, which is this one's limit")


def forbidden(detail: str) -> Problem:
    """The problem of a key that does not go that far."""
    return Problem(403, "forbidden", detail)


def of_status(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Problem:
    """The problem of a plain HTTP status: an unknown path, a wrong method."""
    code = HTTPStatus(status).phrase.lower().replace(" ", "_").replace("'", "")
    return Problem(status, code, detail, headers=headers or {})


def of_error(error: Exception) -> Problem:
    """The problem of any error; of one that is not the client's, without its message."""
    match error:
        case ProblemError():
            return error.problem
        case RequestError():
            return Problem(422, error.code, str(error), error.field)
        case NotFoundError():
            return Problem(404, error.code, str(error))
        case StoreMovedError():
            text = "the store's file is not where it was; its operator is to put it back or restart"
            return _later(error, text, 30)
        case UnavailableError():
            return _later(error, "the database does not answer; try again", RETRY_SECONDS)
        case SchemaError():
            text = "the store's schema is not this program's; its operator is to upgrade one"
            return _later(error, text, 30)
        case ConflictError():
            return _later(error, "others wrote at the same time; try again", 1)
        case _:
            return INTERNAL


def _later(error: ChunkprepError, detail: str, seconds: int) -> Problem:
    return Problem(503, error.code, detail, headers={"Retry-After": str(seconds)})
