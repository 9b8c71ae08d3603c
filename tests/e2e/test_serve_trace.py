"""From a pack to the trace that it was made in, and from a trace to its packs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.support.clients import Connect, both_clients
from tests.support.running import Desk
from tests.support.serving import Served, serving

from chunkprep_ingest.errors import RequestError
from chunkprep_packer import Candidate, Packer, PackRequest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
OTHER = TRACE[::-1]
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def desk(store_url: str, tmp_path: Path) -> Desk:
    """A store on each database; one document is for a label only."""
    made = Desk(tmp_path / "docs", store_url)
    made.write("refunds.md", "# Refunds\n\nA refund takes ten days.\n")
    made.write("bonus.md", "---\naccess: [hr]\n---\n# Bonus\n\nA refund of the bonus.\n")
    made.run()
    return made


@pytest.fixture
def served(desk: Desk, tmp_path: Path) -> Iterator[Served]:
    with serving(desk.url, tmp_path) as running:
        yield running


def request_for(desk: Desk, *documents: str, **more: Any) -> PackRequest:
    ids = [name for document in documents for name in desk.ids(document)]
    return PackRequest(budget=500, candidates=[Candidate(name, 1.0) for name in ids], **more)


@both_clients
def test_a_pack_leads_to_its_trace_and_a_trace_to_its_packs(
    connect: Connect, desk: Desk, served: Served, cli: Cli
) -> None:
    request = request_for(desk, "refunds.md")
    with connect(served.url) as client:
        both = client.pack(request, request_id="answer 7", traceparent=PARENT)
        trace = client.pack(request, traceparent=PARENT.replace("b7-01", "b8-00"))
        named = client.pack(request, request_id="answer 8")
        other = client.pack(request, traceparent=PARENT.replace(TRACE, OTHER))
        plain = client.pack(request, traceparent=PARENT.upper())
        results = [both, trace, named, other, plain]
        assert {each.text for each in results} == {plain.text}
        assert served.stop() == 0  # the log is written
    names = [each.request_id for each in results]
    lines = {name: served.line(event="request", request_id=name) for name in names}
    assert [lines[name].get("trace_id") for name in names] == [TRACE, TRACE, None, OTHER, None]
    assert lines[both.request_id]["caller_id"] == "answer 7"

    with serving(desk.url, served.log.parent) as again, connect(again.url) as client:
        logged = client.logged_pack(both.request_id)
        assert (logged["caller_id"], logged["trace_id"]) == ("answer 7", TRACE)
        assert logged["traceparent"] == PARENT
        assert "caller" not in logged["request"]
        first, second = client.logged_packs(trace_id=TRACE)["packs"]
        assert first == {name: logged[name] for name in first}
        assert (second["request_id"], second["caller_id"]) == (trace.request_id, None)
        assert client.logged_packs(trace_id=TRACE, since=second["at"])["packs"] == [second]
        assert client.logged_packs(trace_id=TRACE, caller_id="answer 7")["packs"] == [first]
        [found] = client.logged_packs(caller_id="answer 8")["packs"]
        assert (found["request_id"], found["trace_id"]) == (named.request_id, None)
        assert client.logged_packs(caller_id="answer")["packs"] == []
        assert client.logged_packs(trace_id="0" * 32)["packs"] == []
        assert client.logged_pack(plain.request_id)["traceparent"] is None
        for wrong in ({}, {"trace_id": TRACE.upper()}, {"trace_id": "%"}):
            with pytest.raises(RequestError) as refused:
                client.logged_packs(**wrong)
            assert refused.value.field == "trace_id"
        page = again.client.get(f"/pages/default/pack/{both.request_id}").text
        assert "answer 7" in page
        assert TRACE in page

    proofs = cli.lines("replay", "--verify", "--trace", TRACE, "--store", desk.url)
    assert [(proof["request_id"], proof["verdict"]) for proof in proofs] == [
        (both.request_id, "identical"), (trace.request_id, "identical"),
    ]  # fmt: skip
    cli("replay", "--trace", TRACE, "--request", both.request_id, "--store", desk.url, code=2)
    cli("replay", "--verify", "--trace", "0" * 32, "--store", desk.url, code=1)


def test_a_trace_shows_a_key_the_packs_that_it_could_have_asked_for(
    desk: Desk, served: Served, cli: Cli
) -> None:
    def key(*options: object) -> str:
        made = cli.json("keys", "add", "one", "--role", "admin", "--store", desk.url, *options)
        return str(made["key"])

    every, plain = key("--access", "*"), key()
    reader = cli.json("keys", "add", "reader", "--store", desk.url)["key"]
    names = []
    for request in (
        request_for(desk, "refunds.md"), request_for(desk, "bonus.md", access=["hr"])
    ):  # fmt: skip
        answer = served.client.post(
            "/v1/pack", content=request.model_dump_json(),
            headers={"Authorization": f"Bearer {every}", "traceparent": PARENT},
        )  # fmt: skip
        assert answer.status_code == 200
        names.append(answer.json()["request_id"])
    assert served.stop() == 0
    with serving(desk.url, served.log.parent) as again:

        def seen(one: str) -> list[str]:
            found = again.get("/v1/packs", one, trace_id=TRACE).json()["packs"]
            return [each["request_id"] for each in found]

        assert seen(every) == names
        assert seen(plain) == names[:1]
        assert again.get("/v1/packs", reader, trace_id=TRACE).status_code == 403


def test_a_packer_in_this_process_keeps_the_trace_too(desk: Desk) -> None:
    request = request_for(desk, "refunds.md")
    with Packer.open(desk.url, log="sync") as packer:
        for parent in (PARENT, "nonsense", None):
            packer.pack(request, request_id=str(parent), traceparent=parent)
        logged = [json.loads(record.request_json) for record in packer.store.packs("default")]
    assert [each.get("caller") for each in logged] == [{"traceparent": PARENT}, None, None]


def test_two_traceparents_are_none(desk: Desk, served: Served) -> None:
    request = request_for(desk, "refunds.md")
    headers = [("traceparent", PARENT), ("Traceparent", PARENT)]
    answer = served.client.post("/v1/pack", content=request.model_dump_json(), headers=headers)
    assert answer.status_code == 200
    assert "trace_id" not in served.line(path="/v1/pack")
