"""The pages as part of the service: the same keys, asked for the way browsers can send them."""

from __future__ import annotations

import dataclasses

from fastapi import APIRouter, Request

from chunkprep_packer.pages.router import Viewer, pages_router
from chunkprep_packer.service.access import authorize, service_of
from chunkprep_packer.service.clock import now
from chunkprep_packer.service.problems import ProblemError
from chunkprep_store import Store

_ASK = {"WWW-Authenticate": 'Basic realm="chunkprep", charset="UTF-8"'}
"""A browser asks its user for a name, which is ignored, and a password, which is the key."""


def inspector_router() -> APIRouter:
    """The pages over the service's store."""
    return pages_router(_store, clock=now, caller=_viewer)


def _store(request: Request) -> Store:
    return service_of(request).store


def _viewer(request: Request, collection: str | None) -> Viewer:
    """As over the API: the whole of a collection and its packs need the role admin."""
    try:
        grant = authorize(request, collection)
    except ProblemError as error:
        if error.problem.status != 401:
            raise
        raise ProblemError(dataclasses.replace(error.problem, headers=_ASK)) from error
    whole = grant.role == "admin" and grant.access is None
    return Viewer(grant.collections, grant.access, whole)
