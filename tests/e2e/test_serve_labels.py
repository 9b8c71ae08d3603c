"""A key that is limited to labels sees no more through any route than its labels open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli
from tests.support.running import Desk
from tests.support.serving import Served, serving

PLAIN = [f"{letter}.md" for letter in "bdf"]
SECRET = [f"{letter}.md" for letter in "ace"]


@pytest.fixture
def desk(store_url: str, tmp_path: Path) -> Desk:
    """Every other document is for a label only, and due for review."""
    made = Desk(tmp_path / "docs", store_url)
    for name in PLAIN:
        made.write(name, f"# Open {name}\n\nA refund in {name}.\n")
    for name in SECRET:
        made.write(name, f"---\naccess: [hr]\nreview_by: 2020-01-01\n---\n# S\n\nRefund {name}.\n")
    made.run()
    return made


@pytest.fixture
def served(desk: Desk, tmp_path: Path) -> Iterator[Served]:
    with serving(desk.url, tmp_path) as running:
        yield running


def admin(cli: Cli, url: str, *labels: str) -> str:
    options = [text for label in labels for text in ("--access", label)]
    made = cli.json("keys", "add", "someone", "--role", "admin", "--store", url, *options)
    return str(made["key"])


def listed(served: Served, key: str, **params: object) -> list[str]:
    """The documents of all pages."""
    found: list[str] = []
    after: dict[str, object] = {}
    while True:
        page = served.get("/v1/documents", key, **params, **after).json()
        found += [each["document"] for each in page["documents"]]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


def pack(served: Served, key: str, ids: list[str], *access: str) -> str:
    """The id of a logged pack."""
    candidates = [{"chunk_id": name, "score": 1} for name in ids]
    body = {"budget": 900, "candidates": candidates, "access": list(access)}
    return str(served.post("/v1/pack", body, key).json()["request_id"])


def log_status(served: Served, key: str, request_id: str) -> int:
    return served.get(f"/v1/packs/{request_id}", key).status_code


def await_logged(served: Served, key: str, request_id: str) -> None:
    deadline = time.monotonic() + 30
    while log_status(served, key, request_id) != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_pages_of_documents_hold_what_the_labels_open_and_nothing_twice(
    desk: Desk, served: Served, cli: Cli
) -> None:
    plain, hr = admin(cli, desk.url), admin(cli, desk.url, "hr")
    for size in (1, 2, 3, 100):
        assert listed(served, plain, limit=size) == PLAIN
        assert listed(served, hr, limit=size) == sorted([*PLAIN, *SECRET])
        assert listed(served, hr, limit=size, as_of="2100-01-01") == sorted([*PLAIN, *SECRET])
    assert served.get("/v1/documents", hr, after="a\x00").status_code == 422


def test_changes_need_a_key_for_all_labels(desk: Desk, served: Served, cli: Cli) -> None:
    plain, hr, all_labels = (admin(cli, desk.url, *some) for some in ((), ("hr",), ("*",)))
    assert served.get("/v1/changes", hr).status_code == 403
    assert "--access '*'" in served.get("/v1/changes", plain).json()["detail"]
    assert len(served.get("/v1/changes", all_labels).json()["changes"]) == 6


def test_the_audit_tells_of_documents_that_the_labels_open(
    desk: Desk, served: Served, cli: Cli
) -> None:
    plain, hr, all_labels = (admin(cli, desk.url, *some) for some in ((), ("hr",), ("*",)))

    def found(key: str) -> set[str]:
        findings = served.get("/v1/audit", key, check="review_due").json()["findings"]
        return {finding["document"] for finding in findings}

    assert found(plain) == set()
    assert found(hr) == found(all_labels) == set(SECRET)


def test_a_logged_pack_is_for_keys_that_could_ask_for_it_and_may_see_it_still(
    desk: Desk, served: Served, cli: Cli
) -> None:
    plain, hr, all_labels = (admin(cli, desk.url, *some) for some in ((), ("hr",), ("*",)))
    ids = [desk.ids(name)[0] for name in (*PLAIN, *SECRET)]
    open_pack, secret_pack = pack(served, plain, ids), pack(served, hr, ids, "hr")
    for one in (open_pack, secret_pack):
        await_logged(served, all_labels, one)
    assert [log_status(served, plain, one) for one in (open_pack, secret_pack)] == [200, 404]
    assert [log_status(served, hr, one) for one in (open_pack, secret_pack)] == [200, 200]
    cli("set", PLAIN[0], "access=board", "--store", desk.url)
    assert [log_status(served, key, open_pack) for key in (plain, hr)] == [404, 404]
    assert log_status(served, all_labels, open_pack) == 200
