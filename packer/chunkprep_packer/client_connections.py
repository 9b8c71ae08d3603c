"""How the clients of the HTTP service hold their connections."""

from __future__ import annotations

from typing import TypedDict

try:
    import httpx
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chunkprep_packer.client needs httpx: run `pip install 'chunkprep[client]'`",
        name=error.name,
    ) from error

from chunkprep_ingest.errors import RequestError, StoreError
from chunkprep_packer.client_calls import Address, authorization

TIMEOUT_SECONDS = 10.0
RETRIES = 2
LONGEST_WAIT_SECONDS = 5.0
CONNECTIONS = 20
"""Open at a time; httpcore looks at each of them, for each of them, whenever one is let go."""
IDLE_SECONDS = 4.0
"""How long a connection is kept unused: the service ends one after five seconds."""


NoAnswer = httpx.RequestError
"""What both raise where nobody answers."""


def for_threads(address: Address, key: str | None, timeout: float, most: int) -> httpx.Client:
    """At `most` so many connections. Raises RequestError for what cannot be sent."""
    return httpx.Client(**_options(address, key, timeout, most))


def for_asyncio(address: Address, key: str | None, timeout: float, most: int) -> httpx.AsyncClient:
    """As `for_threads`."""
    return httpx.AsyncClient(**_options(address, key, timeout, most))


def refuse_closed(http: httpx.Client | httpx.AsyncClient) -> None:
    """Raises StoreError, as a packer does, where the client was closed."""
    if http.is_closed:
        raise StoreError("this client is closed; make another, or ask before it is closed")


class _Options(TypedDict):
    """What httpx's two clients are made with."""

    base_url: str
    headers: dict[str, str]
    timeout: httpx.Timeout
    limits: httpx.Limits


def _options(address: Address, key: str | None, timeout: float, most: int) -> _Options:
    try:
        host = httpx.URL(address.url).host
    except httpx.InvalidURL as error:
        raise RequestError(f"url: {address.url!r} is no URL ({error})", "url") from error
    if not host:
        raise RequestError(f"url: {address.url!r} names no host; write http://HOST", "url")
    if most < 1:
        raise RequestError(f"connections: must be at least 1, not {most}", "connections")
    return _Options(
        base_url=address.url,
        headers=authorization(key),
        timeout=httpx.Timeout(timeout, pool=None),  # waiting for one's own is nobody's silence
        limits=httpx.Limits(
            max_connections=most,
            max_keepalive_connections=most,
            keepalive_expiry=IDLE_SECONDS,
        ),
    )
