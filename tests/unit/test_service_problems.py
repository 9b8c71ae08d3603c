"""Problem details: the client's own mistakes are told, the database's words are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chunkprep_ingest.errors import (
    ChunkprepError,
    ConflictError,
    NotFoundError,
    PinsExceedSlot,
    RequestError,
    SchemaError,
    StoreError,
    StoreMovedError,
    UnavailableError,
)
from chunkprep_packer.request import Candidate, PackRequest
from chunkprep_packer.service.limits import Limits, check_pack
from chunkprep_packer.service.problems import of_error
from chunkprep_packer.service.settings import is_loopback


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RequestError("budget: no", "budget"), 422, "bad_request"),
        (PinsExceedSlot("10 over 5"), 422, "pins_exceed_slot"),
        (NotFoundError("no such chunk"), 404, "not_found"),
        (UnavailableError("x"), 503, "unavailable"),
        (StoreMovedError("x"), 503, "store_moved"),
        (SchemaError("x"), 503, "schema"),
        (ConflictError("x"), 503, "conflict"),
        (StoreError("x"), 500, "internal"),
        (ChunkprepError("x"), 500, "internal"),
        (ZeroDivisionError("x"), 500, "internal"),
    ],
)
def test_every_error_has_its_status(error: Exception, status: int, code: str) -> None:
    problem = of_error(error)
    assert (problem.status, problem.code) == (status, code)
    assert ("Retry-After" in problem.headers) == (status == 503)


@pytest.mark.parametrize(
    "kind", [UnavailableError, StoreMovedError, ConflictError, StoreError, ValueError]
)
def test_what_the_database_says_stays_here(kind: type[Exception]) -> None:
    words = "connection to 10.0.0.7 failed: SELECT secret FROM chunks"
    assert b"SELECT" not in of_error(kind(words)).body("id")
    assert b"10.0.0.7" not in of_error(kind(words)).body("id")


def test_the_body_names_the_field_and_the_request() -> None:
    body = json.loads(of_error(RequestError("budget: no", "budget")).body("abc"))
    assert body["type"] == "urn:chunkprep:problem:bad_request"
    assert (body["status"], body["field"], body["request_id"]) == (422, "budget", "abc")
    assert "field" not in json.loads(of_error(NotFoundError("x")).body("abc"))


def request_of(count: int, numbers: int = 1, **options: Any) -> PackRequest:
    candidates = [Candidate(f"c{n}", 1.0, [0.5] * numbers) for n in range(count)]
    return PackRequest(budget=100, candidates=candidates, **options)


def test_limits_hold_and_name_the_field() -> None:
    limits = Limits(candidates=2, vector=3)
    check_pack(request_of(2, 3), limits)
    with pytest.raises(RequestError, match="candidates: 3 of them, this service takes 2"):
        check_pack(request_of(3), limits)
    with pytest.raises(RequestError, match="vector: 4 numbers"):
        check_pack(request_of(1, 4), limits)
    with pytest.raises(RequestError, match="pin: 3"):
        check_pack(request_of(1, pin=["a", "b"], pin_text=["c"]), limits)


def test_a_limit_that_lets_nothing_through_is_refused() -> None:
    with pytest.raises(RequestError, match="body"):
        Limits(body=0)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("localhost.evil.example", False),
     ("", False)],
)  # fmt: skip
def test_what_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
