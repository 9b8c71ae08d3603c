"""The JSON of requests and answers that only HTTP has, for validation and for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.metadata import Time
from chunkprep_packer.complaint import complaint
from chunkprep_packer.request import Many


class SearchRequest(BaseModel):
    """A plain question to the database's own text search."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        json_schema_extra={"examples": [{"query": "how long does a refund take", "top": 10}]},
    )

    query: Annotated[str, Field(min_length=1)]
    """The words to look for."""
    top: Annotated[int, Field(ge=1, strict=True)] = 40
    """How many candidates at most."""
    collection: Annotated[str, Field(min_length=1)] = "default"
    """The set of documents."""
    any_status: bool = False
    """Also what is out of force, as an index that lags would."""
    as_of: Time = None
    """What was in force then: ISO 8601, or microseconds UTC (default: now)."""
    access: Many | None = None
    """The labels to look with (default: all that the key has)."""

    @field_validator("collection")
    @classmethod
    def _storable(cls, value: str) -> str:
        if "\x00" in value:
            raise ValueError(f"{value!r} names nothing that can be stored")
        return value

    @field_validator("as_of")
    @classmethod
    def _in_calendar(cls, value: int | None) -> int | None:
        try:
            iso(value)
        except (OverflowError, ValueError, OSError) as error:
            raise ValueError(f"{value} microseconds are beyond the calendar") from error
        return value

    @classmethod
    def from_json(cls, text: bytes) -> SearchRequest:
        """The request in a JSON object. Raises RequestError for anything else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise complaint(error, cls.model_fields) from error


class Hit(BaseModel):
    """A candidate; `score` is a share of the best hit's, 0 to 1, within one answer."""

    chunk_id: str
    score: float
    document: str
    version: int
    ordinal: int
    heading_path: list[str]
    status: str


class SearchResult(BaseModel):
    """The hits, the best first: give them to `/v1/pack` as `candidates`, which takes the ids and
    the scores and leaves the rest.
    """

    collection: str
    hits: list[Hit]


class Documents(BaseModel):
    """The documents of one page, by key, as `chunkprep docs --json` shows them; `next` is the
    `after` of the page that follows.
    """

    collection: str
    documents: list[dict[str, Any]]
    next: str | None


class Changes(BaseModel):
    """Entries of the change feed in commit order, as `chunkprep changes` shows them; go on with
    `cursor` as `since`.
    """

    collection: str
    changes: list[dict[str, Any]]
    cursor: int


class AuditFinding(BaseModel):
    """One finding of the audit."""

    check: str
    severity: Literal["error", "warning", "info"]
    document: str | None
    version: int | None
    chunk_id: str | None
    message: str
    remedy: str


class Audit(BaseModel):
    """What the audit found; `truncated` says that there was more than one answer lists."""

    collection: str
    findings: list[AuditFinding]
    truncated: bool


class NamedPack(BaseModel):
    """A logged pack by its names: its own id, its caller's X-Request-ID, the traceparent (W3C) that
    came with the request, and the trace id in that.
    """

    request_id: str
    at: str
    as_of: str
    encoding: str
    slot: int
    used_tokens: int
    caller_id: str | None
    traceparent: str | None
    trace_id: str | None


class LoggedPacks(BaseModel):
    """Logged packs, the oldest first; `truncated` says that there were more than one answer lists:
    go on with the last one's `at` as `since`.
    """

    collection: str
    packs: list[NamedPack]
    truncated: bool


class LoggedPackRecord(NamedPack):
    """A pack as logged: the request without vectors, the decisions, and what was in it."""

    request: dict[str, Any]
    result: dict[str, Any]
    warnings: list[str]


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"]


class Readiness(BaseModel):
    """The database answers, its schema is this program's, and a SQLite file is where it was."""

    status: Literal["ready"]
    schema_revision: str


class ProblemDetails(BaseModel):
    """RFC 9457. `code` is stable; `field` names the part of the request to change."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:chunkprep:problem:bad_request",
                    "title": "Unprocessable Content",
                    "status": 422,
                    "detail": "budget: must be at least 1, not 0",
                    "code": "bad_request",
                    "request_id": "4a61a0a4a8a34f1ab0b3a3d1cf0d3c7e",
                    "field": "budget",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    field: str | None = None
