"""The routes below /v1/packs: what was logged, for auditors."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Request, Response

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.lifecycle import iso
from chunkprep_packer.caller import caller_in
from chunkprep_packer.eligibility import may_see
from chunkprep_packer.logged import packs_called, request_fields
from chunkprep_packer.logged_result import logged_result
from chunkprep_packer.service import shapes
from chunkprep_packer.service.access import authorize, service_of
from chunkprep_packer.service.answers import PROBLEMS, json_answer
from chunkprep_packer.service.clock import now
from chunkprep_packer.service.keys import Grant
from chunkprep_packer.service.routes import Collection, as_moment, storable
from chunkprep_store import PackRecord, Store

router = APIRouter(prefix="/v1", responses=PROBLEMS)


@router.get("/packs", response_model=shapes.LoggedPacks)
def logged_packs(
    request: Request,
    collection: Collection = "default",
    trace_id: Annotated[str | None, Query(description="Packs made in this trace.")] = None,
    caller_id: Annotated[str | None, Query(description="Packs that their caller named so.")] = None,
    since: Annotated[str | None, Query(description="Packed from then on (ISO 8601).")] = None,
) -> Response:
    """Logged packs by the trace that they were made in, or by their caller's X-Request-ID, the
    oldest first (role admin); `GET /v1/packs/{request_id}` has the whole of each.
    """
    grant = authorize(request, collection, "admin")
    service = service_of(request)
    size, start = service.settings.limits.page, as_moment(since, "since")
    found = packs_called(
        service.store, collection, trace_id=trace_id, caller_id=caller_id, since=start
    )
    may = (one for one in found if _may_read_pack(service.store, collection, one, grant))
    page = list(islice(may, size + 1))
    return json_answer(
        {
            "collection": collection,
            "packs": [_named(record) for record in page[:size]],
            "truncated": len(page) > size,
        }
    )


@router.get("/packs/{request_id:path}", response_model=shapes.LoggedPackRecord)
def logged_pack(
    request: Request,
    request_id: Annotated[str, Path(description="Which pack.")],
    collection: Collection = "default",
) -> Response:
    """One pack as logged: what was asked, and what was decided of each candidate (role admin). A
    key that could not ask for it, or may not see all that is in it any more, does not find it.
    """
    grant = authorize(request, collection, "admin")
    wanted, store = storable("request_id", request_id), service_of(request).store
    found = next(store.packs(collection, request_id=wanted), None)
    if found is None or not _may_read_pack(store, collection, found, grant):
        raise NotFoundError(
            f"no pack {request_id!r} is in the log of {collection!r}; it is written within a "
            f"second of its answer"
        )
    result = logged_result(found)
    return json_answer(
        {
            **_named(found),
            "request": request_fields(found, result),
            "result": result,
            "warnings": found.warnings,
        }
    )


def _named(record: PackRecord) -> dict[str, Any]:
    return {
        "request_id": record.request_id,
        "at": iso(record.at),
        "as_of": iso(record.as_of),
        "encoding": record.encoding,
        "slot": record.slot,
        "used_tokens": record.used_tokens,
        **caller_in(record.request_json).facts(),
    }


def _may_read_pack(store: Store, collection: str, found: PackRecord, grant: Grant) -> bool:
    """Whether the key could have asked for the pack, and may still see every chunk in it."""
    if grant.access is None:
        return True
    if grant.missing(orjson.loads(found.request_json)["access"]):
        return False
    used = [chunk.chunk_id for chunk in found.chunks]
    rows = store.lookup(collection, used, at=now()).rows
    return all(may_see(row, grant.access) for row in rows)
