"""The pages over HTTP: read-only, as HTML or as JSON of the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson
from fastapi import APIRouter, Request, Response

from chunkprep_ingest.errors import ChunkprepError, NotFoundError, RequestError
from chunkprep_ingest.lifecycle import iso, moment
from chunkprep_ingest.model import Moment
from chunkprep_packer.eligibility import opens
from chunkprep_packer.pages.corpus_page import corpus_facts, document_list
from chunkprep_packer.pages.document_page import document_facts
from chunkprep_packer.pages.health_page import health_facts
from chunkprep_packer.pages.pack_list_page import pack_list, wanted_list
from chunkprep_packer.pages.pack_page import pack_facts
from chunkprep_packer.pages.rendering import HEADERS, ServedLinks, page, stylesheet
from chunkprep_packer.pages.runs_page import freshness, runs_facts
from chunkprep_store import Store
from chunkprep_store.audit.lists import UnreadableError


class Viewer(NamedTuple):
    """Whoever asks. `collections` and `labels`: None sees all; `whole`: also the pages that add up
    a whole collection, and its logged packs.
    """

    collections: frozenset[str] | None = None
    labels: frozenset[str] | None = None
    whole: bool = True


Caller = Callable[[Request, str | None], Viewer]
"""Who asks for a collection (None: for the list of them); raises where that is not allowed."""

Source = Callable[[Request], Store]
"""Where the store comes from, for each request: it may be away when the service starts."""

_MOST = 2**31 - 1


class _ForbiddenError(ChunkprepError):
    """The page shows the whole collection; it needs a caller who may see everything."""


def _anybody(_request: Request, _collection: str | None) -> Viewer:
    return Viewer()


def pages_router(
    source: Source, *, clock: Callable[[], Moment], caller: Caller = _anybody
) -> APIRouter:
    """Routes under `/pages`. A viewer limited to labels sees documents that the labels allow;
    pages that add up a whole collection, and logged packs, need one who may see the whole.
    """
    router = APIRouter(prefix="/pages", include_in_schema=False)

    @router.get("/pages.css")
    def css() -> Response:
        return Response(stylesheet(), media_type="text/css", headers=HEADERS)

    @router.get("")
    def index(request: Request) -> Response:
        def facts() -> dict[str, Any]:
            mine = caller(request, None).collections
            store, at = source(request), _at(request, clock)
            names = [name for name in store.collections() if mine is None or name in mine]
            return {
                "collection": None,
                "at": iso(at),
                "all": names,
                "freshness": {
                    name: freshness(store, name, at)
                    for name in names
                    if caller(request, name).whole
                },
            }

        return _answer(request, "index.html", "", facts)

    @router.get("/{collection}/documents")
    def documents(request: Request, collection: str) -> Response:
        def facts() -> dict[str, Any]:
            labels = caller(request, collection).labels
            query = request.query_params
            return document_list(
                source(request),
                collection,
                at=_at(request, clock),
                labels=labels,
                find=query.get("find", "").strip(),
                first=_number(query, "first") or 0,
            )

        return _answer(request, "documents.html", "documents", facts)

    @router.get("/{collection}/document")
    def document(request: Request, collection: str) -> Response:
        def facts() -> dict[str, Any]:
            labels = caller(request, collection).labels
            return _document(source(request), collection, request, _at(request, clock), labels)

        return _answer(request, "document.html", "documents", facts)

    def whole(
        request: Request, collection: str, template: str, facts: Callable[[Store], dict[str, Any]]
    ) -> Response:
        def checked() -> dict[str, Any]:
            if not caller(request, collection).whole:
                raise _ForbiddenError(_ForbiddenError.__doc__ or "")
            return facts(source(request))

        tab = "packs" if template == "pack.html" else template.removesuffix(".html")
        return _answer(request, template, tab, checked)

    @router.get("/{collection}/packs")
    def packs(request: Request, collection: str) -> Response:
        def facts(store: Store) -> dict[str, Any]:
            return pack_list(store, collection, wanted_list(request.query_params))

        return whole(request, collection, "packs.html", facts)

    @router.get("/{collection}/pack/{request_id:path}")
    def pack(request: Request, collection: str, request_id: str) -> Response:
        query = request.query_params
        return whole(
            request, collection, "pack.html", lambda s: pack_facts(s, collection, request_id, query)
        )

    @router.get("/{collection}/corpus")
    def corpus(request: Request, collection: str) -> Response:
        def facts(store: Store) -> dict[str, Any]:
            return corpus_facts(store, collection, at=_at(request, clock))

        return whole(request, collection, "corpus.html", facts)

    @router.get("/{collection}/runs")
    def runs(request: Request, collection: str) -> Response:
        def facts(store: Store) -> dict[str, Any]:
            first = _number(request.query_params, "first") or 0
            return runs_facts(store, collection, at=_at(request, clock), first=first)

        return whole(request, collection, "runs.html", facts)

    @router.get("/{collection}/health")
    def health(request: Request, collection: str) -> Response:
        def facts(store: Store) -> dict[str, Any]:
            return health_facts(store, collection, at=_at(request, clock))

        return whole(request, collection, "health.html", facts)

    return router


def _document(
    store: Store, collection: str, request: Request, at: Moment, labels: frozenset[str] | None
) -> dict[str, Any]:
    query = request.query_params
    key = query.get("key", "")
    if not all(opens(labels, info.access) for info in store.versions(collection, key)):
        raise NotFoundError(f"no document {key!r} in collection {collection!r}")
    return document_facts(
        store,
        collection,
        key,
        at=at,
        version=_number(query, "version"),
        against=_number(query, "against"),
        first=_number(query, "first") or 0,
    )


def _number(query: Mapping[str, str], name: str) -> int | None:
    given = query.get(name, "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and int(given[:20]) <= _MOST):
        raise RequestError(f"{name}: {given[:40]!r} is not a number from 0 to {_MOST}", name)
    return int(given)


def _at(request: Request, clock: Callable[[], Moment]) -> Moment:
    given = request.query_params.get("at", "")
    try:
        return moment(given) if given else clock()
    except ChunkprepError as error:
        raise RequestError(f"at: {error}", "at") from error


def _answer(
    request: Request, template: str, tab: str, facts: Callable[[], Mapping[str, Any]]
) -> Response:
    """The facts as the request wants them, or what is wrong with it."""
    status, found = 200, {}
    try:
        found = dict(facts())
    except NotFoundError as error:
        status, template, found = 404, "wrong.html", {"message": str(error)}
    except _ForbiddenError as error:
        status, template, found = 403, "wrong.html", {"message": str(error)}
    except RequestError as error:
        status, template, found = 422, "wrong.html", {"message": str(error)}
    except UnreadableError as error:
        status, template, found = 500, "wrong.html", {"message": str(error)}
    if _wants_json(request):
        return Response(orjson.dumps(found), status, HEADERS, "application/json")
    root = request.scope.get("root_path", "") + "/pages"
    collection = request.path_params.get("collection")
    links = ServedLinks(root, collection or "")
    text = page(template, {"collection": collection, **found}, links=links, tab=tab, root=root)
    return Response(text, status, HEADERS, "text/html")


def _wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return request.query_params.get("format") == "json" or accepted.startswith("application/json")
