"""The OpenAPI document: FastAPI's, with the library's own request models and examples."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from chunkprep_packer.request import PackRequest
from chunkprep_packer.service.shapes import ProblemDetails, SearchRequest

_REF = "#/components/schemas/{model}"
_REQUESTS: tuple[type[BaseModel], ...] = (PackRequest, SearchRequest, ProblemDetails)
_PACK_EXAMPLE = {
    "budget": 1600,
    "candidates": [
        {"chunk_id": "3f0c9ae2d1b84c5f", "score": 0.91},
        {"chunk_id": "a7715be09c224d10", "score": 0.74},
    ],
    "min_score": 0.6,
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of this app."""
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for model in _REQUESTS:
        schema = model.model_json_schema(ref_template=_REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
    schemas["PackRequest"]["examples"] = [_PACK_EXAMPLE]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        if path.startswith("/v1/"):
            for operation in operations.values():
                operation["security"] = [{}, {"key": []}]
    return document
