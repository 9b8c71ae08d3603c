"""Answers as bytes, and the responses that OpenAPI documents for every route."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Response

from chunkprep_packer.service.problems import MEDIA_TYPE, Problem
from chunkprep_packer.service.shapes import ProblemDetails

_TEXTS = {
    401: "No API key, or none that is valid.",
    403: "The key does not go that far.",
    404: "What was named does not exist in this collection.",
    413: "The body is over the limit.",
    422: "The request cannot be served as written.",
    500: "The service failed.",
    503: "The database is away, or its schema is not this program's; see Retry-After.",
}


def json_answer(value: object) -> Response:
    """The value as JSON."""
    return Response(orjson.dumps(value), media_type="application/json")


def problem_answer(problem: Problem, request_id: str) -> Response:
    """The problem as the answer."""
    return Response(
        problem.body(request_id),
        status_code=problem.status,
        headers=dict(problem.headers),
        media_type=MEDIA_TYPE,
    )


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """FastAPI's `responses` for these problems."""
    return {
        status: {
            "description": _TEXTS[status],
            "content": {
                MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}}
            },
        }
        for status in statuses
    }


PROBLEMS = documented(401, 403, 404, 413, 422, 500, 503)
