"""What the clients of the HTTP service send, and what its answers mean, as values.

Nothing here waits: `client.py` does that, in a thread or in an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar
from urllib.parse import quote

import orjson

from chunkprep_ingest.errors import RequestError, ServiceError, UnavailableError
from chunkprep_packer.problem_details import foreign, to_error, wait_seconds
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult

T = TypeVar("T")

UNAVAILABLE = 503
"""The status that is asked again."""
_JSON = {"Content-Type": "application/json"}


class Sent(TypedDict):
    """What goes out."""

    method: str
    url: str
    content: bytes | None
    headers: dict[str, str]
    params: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how the body of a good answer is read."""

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)

    def sent(self) -> Sent:
        """The arguments of httpx's `request`."""
        return Sent(
            method=self.method,
            url=self.path,
            content=self.content,
            headers=dict(self.headers),
            params=dict(self.params) or None,
        )

    def result(self, status: int, body: bytes) -> T:
        """What an answer means. Raises the error that it stands for."""
        if not 200 <= status < 300:
            raise to_error(status, body)
        try:
            return self.read(body)
        except (LookupError, TypeError, ValueError) as error:  # a proxy's page, say
            raise ServiceError(foreign(status, body), status) from error


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is, and how patiently it is asked: an answer 503 up to `retries` times
    again, after `longest_wait` seconds at most.
    """

    url: str
    retries: int
    longest_wait: float

    def pause(self, status: int, headers: Mapping[str, str], left: int) -> float | None:
        """Seconds after which to ask again, with so many tries `left`; None: the answer stands."""
        if status != UNAVAILABLE or left < 1:
            return None
        asked = wait_seconds(headers.get("Retry-After"), datetime.now(UTC))
        return min(asked, self.longest_wait)

    def away(self, error: Exception) -> UnavailableError:
        """The error of a service that gives no answer."""
        return UnavailableError(
            f"{self.url} does not answer ({type(error).__name__}: {error}); see whether the "
            f"service runs there, or allow a longer timeout"
        )


class Page(NamedTuple):
    """Documents, and the key to go on after (None: these were the last)."""

    documents: list[dict[str, Any]]
    after: str | None


def root_of(url: str) -> str:
    """The root of a service. Raises RequestError for what is no URL."""
    if not url.startswith(("http://", "https://")):
        raise RequestError(f"url: {url!r} is no URL of a service; write http://{url}", "url")
    return url.rstrip("/")


def authorization(key: str | None) -> dict[str, str]:
    """The header that carries a key. Raises RequestError."""
    return {} if key is None else {"Authorization": f"Bearer {_sendable('key', key)}"}


def pack(request: PackRequest, request_id: str | None, traceparent: str | None) -> Call[PackResult]:
    """Pack candidates."""
    named = {}
    if request_id is not None:
        named["X-Request-ID"] = _sendable("request_id", request_id)
    if traceparent is not None:
        named["traceparent"] = _sendable("traceparent", traceparent)
    body = request.model_dump_json(exclude_unset=True).encode()
    return Call("POST", "/v1/pack", PackResult.model_validate_json, body, _JSON | named)


def search(
    query: str,
    *,
    top: int,
    collection: str,
    as_of: str | None,
    any_status: bool,
    access: Sequence[str] | None,
) -> Call[list[Candidate]]:
    """Find candidates."""
    asked = {
        "query": query, "top": top, "collection": collection, "as_of": as_of,
        "any_status": any_status, "access": None if access is None else list(access),
    }  # fmt: skip
    return Call("POST", "/v1/search", _hits, orjson.dumps(asked), _JSON)


def chunk(chunk_id: str, collection: str) -> Call[dict[str, Any]]:
    """Show a chunk."""
    return _get(f"/v1/chunks/{quote(chunk_id, safe='')}", orjson.loads, collection=collection)


def documents(collection: str, as_of: str | None, after: str | None) -> Call[Page]:
    """List a page of documents."""
    return _get("/v1/documents", _page, collection=collection, as_of=as_of, after=after)


def changes(since: int, collection: str, limit: int | None) -> Call[list[dict[str, Any]]]:
    """List entries of the change feed."""
    return _get("/v1/changes", _member("changes"), collection=collection, since=since, limit=limit)


def audit(collection: str, checks: Sequence[str] | None) -> Call[dict[str, Any]]:
    """Audit the store."""
    check = None if checks is None else list(checks)
    return _get("/v1/audit", orjson.loads, collection=collection, check=check)


def logged_pack(request_id: str, collection: str) -> Call[dict[str, Any]]:
    """Show a pack as logged."""
    return _get(f"/v1/packs/{quote(request_id, safe='')}", orjson.loads, collection=collection)


def logged_packs(
    trace_id: str | None, caller_id: str | None, since: str | None, collection: str
) -> Call[dict[str, Any]]:
    """List packs by what their caller called them."""
    return _get(
        "/v1/packs", orjson.loads, collection=collection, trace_id=trace_id,
        caller_id=caller_id, since=since,
    )  # fmt: skip


def _get(path: str, read: Callable[[bytes], T], **params: object) -> Call[T]:
    given = {name: value for name, value in params.items() if value is not None}
    return Call("GET", path, read, params=given)


def _hits(body: bytes) -> list[Candidate]:
    return [Candidate(hit["chunk_id"], hit["score"]) for hit in orjson.loads(body)["hits"]]


def _page(body: bytes) -> Page:
    found = orjson.loads(body)
    return Page(found["documents"], found["next"])


def _member(name: str) -> Callable[[bytes], Any]:
    return lambda body: orjson.loads(body)[name]


def _sendable(field: str, text: str) -> str:
    """A header's value; no message repeats it. Raises RequestError."""
    if not (isinstance(text, str) and text.isascii() and text.isprintable()):
        raise RequestError(
            f"{field}: it has characters that no HTTP header carries; write printable ASCII", field
        )
    return text
