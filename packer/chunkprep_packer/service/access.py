"""Who may ask for what. Each check ends the request with 401 or 403, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request

from chunkprep_ingest.errors import RequestError
from chunkprep_packer.service.keys import EVERYTHING, Grant
from chunkprep_packer.service.opened import OpenedService
from chunkprep_packer.service.problems import ProblemError, forbidden
from chunkprep_packer.service.settings import is_loopback
from chunkprep_store.keys import Role


def service_of(request: Request) -> OpenedService:
    """What the handlers of this app share."""
    found: OpenedService = request.app.state.service
    return found


def authorize(request: Request, collection: str | None = None, role: Role = "read") -> Grant:
    """What the caller may do, which includes `role` in `collection` (None: any collection).

    Reads the store now and then: call it outside the event loop. Raises ProblemError (401, 403).
    """
    grant = service_of(request).grant(request.headers.get("authorization"))
    request.state.key_id = grant.key_id
    if grant is EVERYTHING:
        _refuse_foreign_host(request)
    if role == "admin" and grant.role != "admin":
        raise ProblemError(forbidden("this needs a key of role admin; this one may read"))
    if collection is not None:
        check_collection(request, grant, collection)
    return grant


def check_labels(grant: Grant, labels: Iterable[str]) -> None:
    """Refuse labels that the key does not have. Raises ProblemError (403)."""
    missing = grant.missing(labels)
    if missing:
        raise ProblemError(forbidden(f"access: this key does not have the label {missing[0]!r}"))


def check_whole(grant: Grant) -> None:
    """Refuse a key that is limited to labels. Raises ProblemError (403)."""
    if grant.access is not None:
        raise ProblemError(
            forbidden(
                "access: this tells of every chunk of the collection, so it needs a key for all "
                "labels; make one with `chunkprep keys add NAME --role admin --access '*'`"
            )
        )


def check_collection(request: Request, grant: Grant, collection: str) -> None:
    """Refuse a collection that is not the key's. Raises RequestError and ProblemError (403)."""
    if not collection or "\x00" in collection:
        raise RequestError(f"collection: {collection!r} names nothing stored", "collection")
    request.state.collection = collection
    if not grant.may_read(collection):
        raise ProblemError(forbidden(f"this key is not for the collection {collection!r}"))


def _refuse_foreign_host(request: Request) -> None:
    """Without keys only names of this machine are served: a page on the web that points its own
    name at 127.0.0.1 (DNS rebinding) gets nothing.
    """
    host = request.url.hostname or ""
    if not is_loopback(host):
        raise ProblemError(
            forbidden(
                "without an API key this serves the names localhost and 127.0.0.1 only; make a "
                "key with `chunkprep keys add`"
            )
        )
