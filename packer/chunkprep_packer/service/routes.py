"""The routes below /v1. Reading and packing run in threads wherever they may have to wait, so that
no request waits for another one's database; answers are bytes that are not validated again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from chunkprep_ingest.errors import ChunkprepError, NotFoundError, RequestError
from chunkprep_ingest.lifecycle import moment
from chunkprep_packer.eligibility import may_see
from chunkprep_packer.pack_findings import signature_findings
from chunkprep_packer.request import PackRequest
from chunkprep_packer.result import PackResult
from chunkprep_packer.search_scores import scaled
from chunkprep_packer.service import shapes
from chunkprep_packer.service.access import (
    authorize,
    check_collection,
    check_labels,
    check_whole,
    service_of,
)
from chunkprep_packer.service.answers import PROBLEMS, json_answer
from chunkprep_packer.service.clock import now
from chunkprep_packer.service.limits import check_pack
from chunkprep_packer.service.metrics import Metrics
from chunkprep_packer.stored_json import change_record, chunk_record, document_record
from chunkprep_store import CHECKS, Finding, Store
from chunkprep_store.search import query_words


class BodyRoute(APIRoute):
    """A route whose handler takes the request as it came. There are no parameters for FastAPI to
    work out, and looking for them takes as long as the rest of the way to the handler.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function that is decorated."""
        return self.endpoint


bodies = APIRouter(prefix="/v1", responses=PROBLEMS, route_class=BodyRoute)
router = APIRouter(prefix="/v1", responses=PROBLEMS)

Collection = Annotated[str, Query(min_length=1, description="The set of documents.")]
AsOf = Annotated[str | None, Query(description="What was in force then (ISO 8601).")]
Limit = Annotated[int | None, Query(ge=1, description="At most so many entries.")]


def _body(model: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{model}"}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


_CALLER = {
    "X-Request-ID": "What the caller calls the request: logged with the pack, as `caller_id`.",
    "traceparent": "Its place in a trace (W3C Trace Context); an invalid one is ignored.",
}


def _headers(told: Mapping[str, str]) -> dict[str, Any]:
    return {
        "parameters": [
            {"name": name, "in": "header", "description": said, "schema": {"type": "string"}}
            for name, said in told.items()
        ]
    }


@bodies.post(
    "/pack", response_model=PackResult, openapi_extra=_body("PackRequest") | _headers(_CALLER)
)
async def pack(request: Request) -> Response:
    """Pack candidates into a context: the library's request and its answer."""
    body = await request.body()
    if not service_of(request).at_once(len(body)):
        return await run_in_threadpool(lambda: _pack(request, _asked(request, body)))
    asked = _asked(request, body)
    if asked.pin or asked.pin_text or asked.partial_note or asked.encoding:
        # Whole documents may be long, and a tokenizer takes its time when it is first needed.
        return await run_in_threadpool(_pack, request, asked)
    return _pack(request, asked)


def _asked(request: Request, body: bytes) -> PackRequest:
    """What the body asks for, where the caller may ask for it."""
    grant = authorize(request)  # before a stranger's body is looked at
    asked = PackRequest.from_json(body)
    check_collection(request, grant, asked.collection)
    check_labels(grant, asked.access)
    check_pack(asked, service_of(request).settings.limits)
    return asked


def _pack(request: Request, asked: PackRequest) -> Response:
    service = service_of(request)
    state = request.state
    answer = service.packer.answer(asked, request_id=state.request_id, caller=state.caller)
    metrics: Metrics = request.app.state.metrics
    metrics.packed(answer.result)
    metrics.lost(service.log_losses)
    return Response(answer.to_json(), media_type="application/json")


@bodies.post("/search", response_model=shapes.SearchResult, openapi_extra=_body("SearchRequest"))
async def search(request: Request) -> Response:
    """Find candidates by the database's own text search, so that packing needs no vector index."""
    return await run_in_threadpool(_search, request, await request.body())


def _search(request: Request, body: bytes) -> Response:
    grant = authorize(request)
    asked = shapes.SearchRequest.from_json(body)
    check_collection(request, grant, asked.collection)
    check_labels(grant, asked.access or ())
    service = service_of(request)
    _check_most("top", asked.top, service.settings.limits.top)
    if not query_words(asked.query):
        raise RequestError(f"query: {asked.query!r} holds no word to look for", "query")
    labels = grant.access if asked.access is None else asked.access
    found = service.store.search(
        asked.collection,
        asked.query,
        top=asked.top,
        at=now() if asked.as_of is None else asked.as_of,
        any_status=asked.any_status,
        access=None if labels is None else tuple(labels),
    )
    hits = [{**h._asdict(), "heading_path": orjson.loads(h.heading_path)} for h in scaled(found)]
    return json_answer({"collection": asked.collection, "hits": hits})


@router.get("/chunks/{chunk_id}", response_model=dict[str, Any])
def chunk(
    request: Request,
    chunk_id: Annotated[str, Path(description="Which chunk.")],
    collection: Collection = "default",
) -> Response:
    """One chunk, whatever its standing, as `chunkprep chunks --json` shows it."""
    grant = authorize(request, collection)
    store = service_of(request).store
    rows = store.lookup(collection, [storable("chunk_id", chunk_id)], at=now()).rows
    if not rows or not (grant.access is None or may_see(rows[0], grant.access)):
        raise NotFoundError(f"chunk {chunk_id!r} is not in collection {collection!r}")
    encoding = store.template(rows[0].profile).encoding
    return json_answer(chunk_record(rows[0], encoding))


@router.get("/documents", response_model=shapes.Documents)
def documents(
    request: Request,
    collection: Collection = "default",
    as_of: AsOf = None,
    after: Annotated[str | None, Query(description="The last key of the page before.")] = None,
    limit: Limit = None,
) -> Response:
    """The version that stands for each document, by key, page by page."""
    grant = authorize(request, collection)
    service = service_of(request)
    size = min(limit or service.settings.limits.page, service.settings.limits.page)
    at, last = as_moment(as_of), None if after is None else storable("after", after)
    page = list(
        service.store.documents(collection, at, after=last, limit=size + 1, access=grant.access)
    )
    following = page[size - 1].document if len(page) > size else None
    records = [document_record(each) for each in page[:size]]
    return json_answer({"collection": collection, "documents": records, "next": following})


@router.get("/changes", response_model=shapes.Changes)
def changes(
    request: Request,
    collection: Collection = "default",
    since: Annotated[int, Query(ge=0, le=2**63 - 1, description="After this entry.")] = 0,
    limit: Limit = None,
) -> Response:
    """The change feed for a vector index, with the texts and removals of every access label (role
    admin, for all labels).
    """
    check_whole(authorize(request, collection, "admin"))
    service = service_of(request)
    size = min(limit or service.settings.limits.page, service.settings.limits.page)
    found = service.store.changes(collection, since, size)
    cursor = found[-1].cursor if found else since
    records = [change_record(change) for change in found]
    return json_answer({"collection": collection, "changes": records, "cursor": cursor})


@router.get("/audit", response_model=shapes.Audit)
def audit(
    request: Request,
    collection: Collection = "default",
    check: Annotated[
        list[str] | None,
        Query(description="Only these checks; without it all but `pack_log`, which takes long."),
    ] = None,
) -> Response:
    """What the audit finds in the store, of documents that the key may see (role admin); prices
    are not counted again, and logged packs compared with their JSON only where `check` asks for
    `pack_log`.
    """
    grant = authorize(request, collection, "admin")
    service = service_of(request)
    size = service.settings.limits.page
    findings = _findings(service.store, collection, check)
    shown = _shown(findings, service.store, collection, grant.access)
    found = list(islice(shown, size + 1))
    records = [finding._asdict() for finding in found[:size]]
    return json_answer(
        {"collection": collection, "findings": records, "truncated": len(found) > size}
    )


_UNASKED = tuple(name for name in CHECKS if name != "pack_log")
"""The store's checks unless some are named: `pack_log` takes longer than a client waits."""


def _findings(store: Store, collection: str, checks: list[str] | None) -> Iterator[Finding]:
    """The store's findings and the packer's, as `chunkprep audit` without files gives them, of
    _UNASKED unless some checks are named.
    """
    stored = _UNASKED if checks is None else [name for name in checks if name != "signatures"]
    if stored:
        yield from store.audit(collection, now=now(), checks=stored)
    if checks is None or "signatures" in checks:
        yield from signature_findings(store, collection, now=now(), asked=checks is not None)


def _shown(
    findings: Iterator[Finding], store: Store, collection: str, labels: frozenset[str] | None
) -> Iterator[Finding]:
    """The findings of documents that the labels open, and of no document."""
    if labels is None:
        return findings
    keys = {None, *(info.document for info in store.documents(collection, access=labels))}
    return (finding for finding in findings if finding.document in keys)


def as_moment(given: str | None, field: str = "as_of") -> int | None:
    """A parameter that is a time. Raises RequestError."""
    if given is None:
        return None
    try:
        return moment(given)
    except (ValueError, OverflowError, ChunkprepError) as error:
        raise RequestError(f"{field}: {given!r} is no ISO 8601 time", field) from error


def storable(field: str, text: str) -> str:
    """A parameter that names something stored. Raises RequestError."""
    if "\x00" in text:
        raise RequestError(f"{field}: {text!r} names nothing that can be stored", field)
    return text


def _check_most(field: str, value: int, most: int) -> None:
    if value > most:
        raise RequestError(f"{field}: {value}, this service takes at most {most}", field)
