"""A synchronous client of the HTTP service, with the methods of `Packer`.

For example:

    with Client("https://retrieval.example", key=os.environ["CHUNKPREP_KEY"]) as client:
        result = client.pack(PackRequest(budget=4000, candidates=hits))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import orjson

try:
    import httpx
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chunkprep_packer.client needs httpx: run `pip install 'chunkprep[client]'`",
        name=error.name,
    ) from error

from chunkprep_ingest.closing import Closing
from chunkprep_ingest.errors import RequestError, UnavailableError
from chunkprep_packer.problem_details import to_error, wait_seconds
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.result import PackResult

TIMEOUT_SECONDS = 10.0
RETRIES = 2
LONGEST_WAIT_SECONDS = 5.0
JSON = {"Content-Type": "application/json"}


class Client(Closing):
    """Packs over HTTP. Safe to share between threads; `close` it, or use it in a `with`.

    `url` is the service's root, `key` its API key, `timeout` seconds for connecting and for each
    answer. An answer 503 is asked again up to `retries` times, after the seconds of its
    Retry-After, but never more than `longest_wait` of them. Every problem is a ChunkprepError:
    the kind that `Packer` raises, UnavailableError where nobody answers, else ServiceError; a
    `url` that is none is a RequestError.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        longest_wait: float = LONGEST_WAIT_SECONDS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise RequestError(f"url: {url!r} is no URL of a service; write http://{url}", "url")
        self.url = url.rstrip("/")
        self._retries = retries
        self._longest_wait = longest_wait
        self._sleep = sleep
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout)

    def pack(self, request: PackRequest, *, request_id: str | None = None) -> PackResult:
        """Pack, log, and answer.

        The service names the pack, in the result's `request_id`; one given here stands beside it in
        the service's request log, as `caller_id`. Raises RequestError and its kinds,
        NotFoundError, UnavailableError and ServiceError.
        """
        body = request.model_dump_json(exclude_unset=True)
        named = {} if request_id is None else {"X-Request-ID": request_id}
        answer = self._ask("POST", "/v1/pack", content=body, headers=JSON | named)
        return PackResult.model_validate_json(answer.content)

    def search(
        self,
        query: str,
        *,
        top: int = 40,
        collection: str = "default",
        as_of: str | None = None,
        any_status: bool = False,
        access: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Candidates by the database's own text search, best first; `as_of` is ISO 8601.

        `access`: the labels to look with (default: all that the key has). Raises as `pack` does.
        """
        asked = {
            "query": query, "top": top, "collection": collection, "as_of": as_of,
            "any_status": any_status, "access": None if access is None else list(access),
        }  # fmt: skip
        answer = self._ask("POST", "/v1/search", content=orjson.dumps(asked), headers=JSON)
        return [Candidate(hit["chunk_id"], hit["score"]) for hit in answer.json()["hits"]]

    def chunk(self, chunk_id: str, *, collection: str = "default") -> dict[str, Any]:
        """One chunk, whatever its standing, as `chunkprep chunks --json` shows it.

        Raises NotFoundError, and as `pack` does.
        """
        path = f"/v1/chunks/{quote(chunk_id, safe='')}"
        found: dict[str, Any] = self._ask("GET", path, params={"collection": collection}).json()
        return found

    def documents(
        self, *, collection: str = "default", as_of: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Every document, by key, as `chunkprep docs --json` shows it; asked for page by page."""
        params = {"collection": collection} | ({} if as_of is None else {"as_of": as_of})
        while True:
            page = self._ask("GET", "/v1/documents", params=params).json()
            yield from page["documents"]
            if page["next"] is None:
                return
            params["after"] = page["next"]

    def changes(
        self, since: int = 0, *, collection: str = "default", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Entries of the change feed after the cursor `since`, in commit order (role admin)."""
        params = {"collection": collection, "since": since}
        if limit is not None:
            params["limit"] = limit
        answer = self._ask("GET", "/v1/changes", params=params).json()
        found: list[dict[str, Any]] = answer["changes"]
        return found

    def audit(
        self, *, collection: str = "default", checks: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """`findings` as `chunkprep audit --json` gives them, of all `checks` unless told otherwise,
        and whether there were more than one answer lists: `truncated` (role admin).
        """
        params: dict[str, Any] = {"collection": collection}
        if checks is not None:
            params["check"] = list(checks)
        found: dict[str, Any] = self._ask("GET", "/v1/audit", params=params).json()
        return found

    def logged_pack(self, request_id: str, *, collection: str = "default") -> dict[str, Any]:
        """A pack as logged: `request`, and `result` with a decision on each candidate (role admin).

        It is in the log within a second of its answer. Raises NotFoundError, and as `pack` does.
        """
        path = f"/v1/packs/{quote(request_id, safe='')}"
        found: dict[str, Any] = self._ask("GET", path, params={"collection": collection}).json()
        return found

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _ask(
        self,
        method: str,
        path: str,
        *,
        content: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """A good answer, after as many tries as are allowed."""
        for left in range(self._retries, -1, -1):
            try:
                answer = self._http.request(
                    method, path, content=content, headers=headers, params=params
                )
            except httpx.TransportError as error:
                raise UnavailableError(
                    f"{self.url} does not answer ({type(error).__name__}: {error}); see whether "
                    f"the service runs there, or allow a longer timeout"
                ) from error
            if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE and left:
                asked = wait_seconds(answer.headers.get("Retry-After"), datetime.now(UTC))
                self._sleep(min(asked, self._longest_wait))
                continue
            if answer.is_success:
                return answer
            raise to_error(answer.status_code, answer.content)
        raise AssertionError("the last try returns or raises")
