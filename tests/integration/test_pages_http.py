"""The pages' answers without a browser: JSON, wrong requests, headers, access."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_packer.pages.document_page import word_changes
from chunkprep_packer.pages.pack_page import segments
from chunkprep_packer.pages.rendering import coded
from chunkprep_packer.pages.router import Viewer, pages_router
from chunkprep_store import Store

NOW = 1_700_000_000_000_000


def client_of(store: Store, labels: frozenset[str] | None = None) -> TestClient:
    def caller(request: Request, collection: str | None) -> Viewer:
        return Viewer(labels=labels, whole=labels is None)

    app = FastAPI()
    app.include_router(pages_router(lambda _: store, clock=lambda: NOW + 100, caller=caller))
    return TestClient(app)


@pytest.fixture
def packed(store: Store) -> tuple[Store, str]:
    text = "# Refund\n\n" + "\n\n".join(f"Paragraph {n} says this and that." for n in range(60))
    ingest(store, "refund.md", text, now=NOW)
    ids = chunk_ids(store, "refund.md")
    with Packer(store, clock=lambda: NOW + 100, log="sync") as packer:
        candidates = tuple(Candidate(name, 1 - n / 100) for n, name in enumerate(ids))
        result = packer.pack(PackRequest(budget=200, candidates=candidates))
    return store, result.request_id


def test_html_and_json_have_the_strict_policy(packed: tuple[Store, str]) -> None:
    client = client_of(packed[0])
    for name in ("documents", "document?key=refund.md", "packs", "corpus", "health", "runs"):
        page = client.get(f"/pages/default/{name}")
        assert page.status_code == 200, page.text
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "style=" not in page.text
        same = client.get(f"/pages/default/{name}", headers={"accept": "application/json"})
        assert same.json()["collection"] == "default"


def test_a_larger_budget_lets_blocks_in(packed: tuple[Store, str]) -> None:
    store, request_id = packed
    address = f"/pages/default/pack/{request_id}?format=json"
    client = client_of(store)
    assert client.get(address).json()["replay"] is None
    found = client.get(address + "&budget=100000").json()
    assert found["replay"]["skipped"] == 0
    assert len(found["comparison"]["enters"]) == found["logged"]["skipped"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("budget=many", "budget"), ("budget=0", "budget"), ("mmr=7", "mmr"), ("order=x", "order")],
)
def test_a_wrong_option_is_refused(packed: tuple[Store, str], query: str, field: str) -> None:
    store, request_id = packed
    answer = client_of(store).get(f"/pages/default/pack/{request_id}?{query}")
    assert answer.status_code == 422
    assert field in answer.text


def test_what_does_not_exist_is_404_and_a_wrong_moment_422(packed: tuple[Store, str]) -> None:
    client = client_of(packed[0])
    for path in ("other/corpus", "default/document?key=x", "default/pack/x"):
        assert client.get(f"/pages/{path}").status_code == 404
    for path in ("corpus?at=soon", "document?key=refund.md&version=-1"):
        assert client.get(f"/pages/default/{path}").status_code == 422


def test_a_caller_limited_to_labels_sees_what_they_allow(packed: tuple[Store, str]) -> None:
    store, request_id = packed
    ingest(store, "secret.md", "# Secret\n\nFor staff.\n", now=NOW)
    store.set_metadata("default", "secret.md", {"access": ["staff"]}, now=NOW + 1)

    def listed(client: TestClient) -> list[Any]:
        found = client.get("/pages/default/documents?format=json").json()["documents"]
        return [one["document"] for one in found]

    guest, staff = client_of(store, frozenset()), client_of(store, frozenset({"staff"}))
    assert listed(guest) == ["refund.md"]
    assert listed(staff) == ["refund.md", "secret.md"]
    assert guest.get("/pages/default/document?key=secret.md").status_code == 404
    assert staff.get("/pages/default/document?key=secret.md").status_code == 200
    for path in ("packs", "corpus", "health", "runs", f"pack/{request_id}"):
        assert staff.get(f"/pages/default/{path}").status_code == 403


def test_the_parts_of_a_slot_add_up() -> None:
    def block(tokens: int, rank: int | None, *, cut: bool = False) -> dict[str, Any]:
        truncated = {"offset": 1} if cut else None
        return {"tokens": tokens, "rank": rank, "truncated": truncated, "document": "a"}

    parts = segments(100, 70, [block(10, None), block(30, 1), block(20, 2, cut=True)], floored=True)
    kinds = [(part["kind"], part["tokens"]) for part in parts]
    assert kinds == [("pin", 10), ("floor", 30), ("truncated", 20), ("note", 10), ("unused", 30)]
    assert sum(part["width"] for part in parts) == pytest.approx(100)


def test_words_that_changed() -> None:
    runs = [(run["tag"], run["text"]) for run in word_changes("within 14 days", "within 21 days")]
    assert runs == [("equal", "within"), ("delete", "14"), ("insert", "21"), ("equal", "days")]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("run `chunkprep audit`", "run <code>chunkprep audit</code>"),
        ("`<b>` & `x`", "<code>&lt;b&gt;</code> &amp; <code>x</code>"),
        ("a file `<i> by name", "a file `&lt;i&gt; by name"),
    ],
)
def test_commands_in_advice_are_code_and_nothing_else_is_markup(text: str, html: str) -> None:
    assert coded(text) == html
