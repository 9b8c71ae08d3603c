"""The HTTP client against a server on loopback that says what each test wants it to say."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.clients import Connect, both_clients
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.errors import (
    ChunkprepError,
    NotFoundError,
    PinsExceedSlot,
    RequestError,
    ServiceError,
    StoreError,
    UnavailableError,
)
from chunkprep_packer import Candidate, Packer, PackRequest, PackResult, PinText
from chunkprep_packer.client import Client
from chunkprep_packer.problem_details import to_error, wait_seconds
from chunkprep_store import Store

NOW = 1_700_000_000_000_000
REQUEST = PackRequest(budget=90, candidates=[Candidate("a", 0.5)])


@dataclass
class Server:
    """`answers` are given in turn (status, body, headers), the last one again and again."""

    url: str
    answers: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    asked: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)

    def says(self, status: int, body: object, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, data, named))


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            said.asked.append((self.path, sent, {k.lower(): v for k, v in self.headers.items()}))
            status, body, headers = said.answers[0]
            if len(said.answers) > 1:
                said.answers.pop(0)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    said = Server(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield said
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def result(tmp_path: Path) -> PackResult:
    """What a packer answers."""
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        ingest(store, "a.md", "# A\n\nOne rule.\n", now=NOW)
        [name] = chunk_ids(store, "a.md")
        with Packer(store) as packer:
            candidates = [Candidate(name, 0.5), Candidate("gone", 0.4)]
            return packer.pack(PackRequest(budget=90, candidates=candidates))


def problem(code: str, status: int, **more: object) -> dict[str, object]:
    return {"type": f"urn:chunkprep:problem:{code}", "title": "T", "status": status,
            "detail": f"{code}: do this", "code": code, "request_id": "r1", **more}  # fmt: skip


@both_clients
def test_the_result_is_the_packers(connect: Connect, server: Server, result: PackResult) -> None:
    server.says(200, result.model_dump_json().encode())
    request = PackRequest(
        budget=90, candidates=[Candidate("a", 0.5, [1.0, 2.0])], as_of=NOW, pin_text=[PinText("x")]
    )
    with connect(server.url + "/", key="secret") as client:
        assert client.pack(request, request_id="mine") == result
    [(path, body, headers)] = server.asked
    assert path == "/v1/pack"
    assert PackRequest.from_json(body) == request
    assert (headers["authorization"], headers["x-request-id"]) == ("Bearer secret", "mine")


@both_clients
def test_without_a_key_none_is_sent(connect: Connect, server: Server, result: PackResult) -> None:
    server.says(200, result.model_dump_json().encode())
    with connect(server.url) as client:
        client.pack(REQUEST)
    assert "authorization" not in server.asked[0][2]


@both_clients
@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("bad_request", 422, RequestError),
        ("pins_exceed_slot", 422, PinsExceedSlot),
        ("not_found", 404, NotFoundError),
        ("unauthorized", 401, ServiceError),
        ("forbidden", 403, ServiceError),
        ("too_large", 413, ServiceError),
        ("internal", 500, ServiceError),
        ("unavailable", 503, UnavailableError),
    ],
)
def test_problems_are_the_errors_of_the_library(
    connect: Connect, server: Server, code: str, status: int, kind: type[ChunkprepError]
) -> None:
    server.says(status, problem(code, status, field="budget"))
    with connect(server.url, retries=0) as client, pytest.raises(kind, match=code) as caught:
        client.pack(REQUEST)
    assert type(caught.value) is kind
    if isinstance(caught.value, RequestError):
        assert caught.value.field == "budget"
    if isinstance(caught.value, ServiceError):
        assert (caught.value.status, caught.value.problem) == (status, code)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.status, str(again)) == (status, str(caught.value))
    assert ("(request r1)" in str(caught.value)) is (status >= 500)


@both_clients
def test_a_foreign_answer_is_shown_as_it_is(connect: Connect, server: Server) -> None:
    server.says(418, b"<html>some proxy</html>")
    with connect(server.url) as client, pytest.raises(ServiceError, match="418: <html>some proxy"):
        client.pack(REQUEST)
    server.answers.clear()
    server.says(200, b"<html>please log in</html>")
    with connect(server.url) as client:
        for ask, asked in ((client.pack, REQUEST), (client.search, "refund")):
            with pytest.raises(ServiceError, match="200: <html>please log in"):
                ask(asked)
    assert isinstance(to_error(502, b""), UnavailableError)
    assert isinstance(to_error(404, b"[]"), NotFoundError)


@both_clients
def test_503_is_asked_again_after_its_retry_after(
    connect: Connect, server: Server, result: PackResult
) -> None:
    server.says(503, problem("unavailable", 503), Retry_After="2")
    server.says(503, problem("unavailable", 503), Retry_After="86400")
    server.says(200, result.model_dump_json().encode())
    slept: list[float] = []
    with connect(server.url, sleep=slept.append, longest_wait=7.0) as client:
        assert client.pack(REQUEST) == result
    assert slept == [2.0, 7.0]


@both_clients
def test_503_is_asked_again_so_often_and_no_oftener(connect: Connect, server: Server) -> None:
    server.says(503, problem("unavailable", 503))
    slept: list[float] = []
    with (
        connect(server.url, sleep=slept.append, retries=3) as client,
        pytest.raises(UnavailableError),
    ):
        client.pack(REQUEST)
    assert (len(server.asked), slept) == (4, [1.0, 1.0, 1.0])


def test_retry_after_may_be_a_date_or_nonsense() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert wait_seconds("Thu, 01 Jan 2026 00:00:30 GMT", now) == 30
    assert wait_seconds("Thu, 01 Jan 2015 00:00:30 GMT", now) == 0
    assert wait_seconds("soon", now) == wait_seconds("-4", now) == wait_seconds(None, now) == 1


@both_clients
def test_nobody_there_is_unavailable(connect: Connect, server: Server) -> None:
    with (
        connect("http://127.0.0.1:9") as client,
        pytest.raises(UnavailableError, match=r"127\.0\.0\.1"),
    ):
        client.pack(REQUEST)


def test_an_adapter_packs_over_http_as_well(server: Server, result: PackResult) -> None:
    from langchain_core.documents import Document

    from chunkprep_packer import PackOptions
    from chunkprep_packer.langchain import ChunkprepCompressor

    server.says(200, result.model_dump_json().encode())
    found: list[Any] = [Document(id=result.blocks[0].chunk_id, page_content="x")]
    with Client(server.url) as client:
        compressor = ChunkprepCompressor(packer=client, options=PackOptions(budget=90))
        [packed] = compressor.compress_documents(found, "q")
    assert packed.page_content == result.text


@both_clients
@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("127.0.0.1:8000", "write http://127.0.0.1:8000"),
        ("http://", "names no host"),
        ("http://127.0.0.1:port", "no URL"),
    ],
)
def test_a_url_that_is_none_is_told_and_not_waited_for(
    connect: Connect, url: str, told: str
) -> None:
    with pytest.raises(RequestError, match=told) as wrong:
        connect(url)
    assert wrong.value.field == "url"


@both_clients
def test_what_no_header_carries_is_told_and_not_sent(connect: Connect, server: Server) -> None:
    with connect(server.url) as client:
        for name in ("caf\u00e9", "two\nlines"):
            with pytest.raises(RequestError, match="printable ASCII") as wrong:
                client.pack(REQUEST, request_id=name)
            assert wrong.value.field == "request_id"
    with pytest.raises(RequestError) as hidden:
        connect(server.url, key="secret\n")
    assert hidden.value.field == "key"
    assert "secret" not in str(hidden.value)
    assert server.asked == []


def _array(*numbers: float) -> Any:
    return np.array(numbers)


def test_arrays_and_lone_surrogates_are_sent_as_the_packer_takes_them(
    server: Server, result: PackResult
) -> None:
    server.says(200, result.model_dump_json().encode())
    vector, query_vector = (_array(1.0, 2.0), _array(1.0, 0.5))
    request = PackRequest(
        budget=1,
        candidates=[Candidate("a", 1, vector)],
        query_vector=query_vector,
        pin_text=[PinText("x\ud800", "n\udc00")],
    )
    with Client(server.url) as client:
        client.pack(request)
    sent = json.loads(server.asked[0][1])
    assert sent["candidates"][0]["vector"] == [1.0, 2.0]
    assert sent["query_vector"] == [1.0, 0.5]
    assert sent["pin_text"] == [{"text": "x\ufffd", "name": "n\ufffd"}]


def test_a_closed_client_says_so(server: Server) -> None:
    client = Client(server.url)
    client.close()
    with pytest.raises(StoreError, match="is closed"):
        client.pack(REQUEST)
