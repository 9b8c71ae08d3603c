"""The list of logged packs: each is found by paging, by its day, or by the start of its id."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from chunkprep_packer.pages import pack_list_page
from chunkprep_packer.pages.router import pages_router
from chunkprep_store import PackRecord, Store

DAY = 86_400_000_000
START = 1_700_006_400_000_000  # 2023-11-15T00:00:00Z
LISTED = 10


@pytest.fixture
def client(store: Store, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Pages of ten packs over a log of 57, on three days, some at the same moment."""
    monkeypatch.setattr(pack_list_page, "LISTED", LISTED)
    store.start_run("default", now=1)
    store.write_packs("default", [record(n) for n in range(57)])
    store.start_run("other", now=1)
    store.write_packs("other", [record(n) for n in range(3)])
    app = FastAPI()
    app.include_router(pages_router(lambda _: store, clock=lambda: START + 9 * DAY))
    return TestClient(app)


def name(n: int) -> str:
    return f"{('Order', 'order', 'run')[n % 3]}-{n:02}%_"


def record(n: int) -> PackRecord:
    at = START + n // 20 * DAY + n // 3 * 1_000
    return PackRecord(name(n), at, at, "words", 100, n, "{}", "{}", ("x: y",) * (n % 2))


def page(client: TestClient, **query: str) -> dict[str, Any]:
    found = client.get("/pages/default/packs", params={**query, "format": "json"})
    assert found.status_code == 200, found.text
    shown = client.get("/pages/default/packs", params=query)
    assert shown.status_code == 200
    for one in found.json()["packs"]:
        assert one["request_id"] in shown.text
    return dict(found.json())


def walk(client: TestClient, **query: str) -> list[str]:
    """The ids of every page onwards; each page must lead back to the one before it."""
    found, steps = list[str](), dict(query)
    before = None
    while True:
        shown = page(client, **steps)
        ids = [one["request_id"] for one in shown["packs"]]
        if before is None:
            assert shown["previous"] is None
        else:
            back = page(client, **query, before=shown["previous"])
            assert [one["request_id"] for one in back["packs"]] == before
        found += ids
        before = ids
        if shown["next"] is None:
            return found
        assert len(ids) == LISTED
        steps = {**query, "after": shown["next"]}


def test_all_are_paged_through_the_newest_first(client: TestClient) -> None:
    assert walk(client) == [name(n) for n in reversed(range(57))]
    first = page(client)
    assert (first["logged"], first["found"], first["by_id"]) == (57, 57, False)
    assert first["packs"][0] == {
        "request_id": name(56), "at": "2023-11-17T00:00:00.018000Z", "slot": 100,
        "used_tokens": 56, "fill": 0.56, "warnings": 0,
    }  # fmt: skip


def test_a_day_is_paged_through(client: TestClient) -> None:
    assert walk(client, day="2023-11-16") == [name(n) for n in reversed(range(20, 40))]
    assert page(client, day="2023-11-16")["found"] == 20
    assert page(client, day="2024-01-01")["packs"] == []


def test_an_id_is_found_by_its_start_in_its_own_case(client: TestClient) -> None:
    wanted = [name(n) for n in range(57) if n % 3 == 1]
    assert sorted(walk(client, find="order-")) == sorted(wanted)
    assert walk(client, find=name(7)) == [name(7)]
    assert walk(client, find="order-0") == [name(1), name(4), name(7)]
    for nothing in ("rder", "order_", "order-07%%", "%", "_"):
        assert walk(client, find=nothing) == []
    assert page(client, find="order-")["found"] == len(wanted)
    both = walk(client, find="run", day="2023-11-17")
    assert both == [name(n) for n in reversed(range(40, 57)) if n % 3 == 2]


def test_a_form_and_links_lead_on(client: TestClient) -> None:
    shown = client.get("/pages/default/packs").text
    assert 'name="find"' in shown
    assert 'name="day"' in shown
    assert ">Older</a>" in shown
    assert ">Newer</a>" not in shown
    assert "show all" in client.get("/pages/default/packs?find=nothing").text


@pytest.mark.parametrize(
    "query",
    [
        "day=yesterday",
        "after=x",
        "before=1",
        "after=1-2-3",
        "find=a%00b",
        "after=9999999999999999999-1",
    ],
)
def test_what_names_no_place_is_422(client: TestClient, query: str) -> None:
    answer = client.get(f"/pages/default/packs?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[0] in answer.text
