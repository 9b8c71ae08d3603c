"""The HTTP service as a process: what it answers, whom it lets in, and how it ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli
from tests.support.running import Desk
from tests.support.serving import Served, serving

from chunkprep_packer import Packer, PackRequest
from chunkprep_store import Store

ROUTES = {
    "/v1/pack", "/v1/search", "/v1/chunks/{chunk_id}", "/v1/documents", "/v1/changes", "/v1/audit",
    "/v1/packs", "/v1/packs/{request_id}", "/healthz", "/readyz", "/metrics",
}  # fmt: skip


@pytest.fixture
def desk(store_url: str, tmp_path: Path) -> Desk:
    """Two collections on each database; one document of the first is for a label only."""
    folder = tmp_path / "docs"
    made = Desk(folder, store_url)
    made.write("refunds.md", "# Refunds\n\nA refund takes ten days.\n")
    made.write("bonus.md", "---\naccess: [hr]\n---\n# Bonus\n\nA refund of the bonus is secret.\n")
    made.run()
    made.write("refunds.md", "# Refunds\n\nThe other collection's refund.\n")
    made.run(collection="other")
    return made


@pytest.fixture
def served(desk: Desk, tmp_path: Path) -> Iterator[Served]:
    with serving(desk.url, tmp_path, "--workers", "2") as running:
        yield running


def add_key(cli: Cli, url: str, *options: object) -> str:
    return str(cli.json("keys", "add", "someone", "--store", url, *options)["key"])


def test_it_packs_as_the_library_does_and_logs_what_it_packed(desk: Desk, served: Served) -> None:
    assert served.get("/readyz").json()["status"] == "ready"
    probes = [served.client.head(path) for path in ("/healthz", "/readyz", "/metrics")]
    assert [(probe.status_code, probe.content) for probe in probes] == [(200, b"")] * 3
    candidates = [*served.candidates("refund"), *served.candidates("refund", collection="other")]
    assert len(candidates) == 4
    asked = {"budget": 500, "candidates": candidates, "access": ["hr"], "as_of": None}
    answer = served.post("/v1/pack", asked)
    packed = answer.json()
    with Packer.open(desk.url, log="off") as packer:
        request = PackRequest.from_json(json.dumps(asked))
        expected = packer.pack(request, request_id=packed["request_id"])
    assert packed == json.loads(expected.model_dump_json())
    assert [d["reason"] for d in packed["decisions"]].count("unknown_id") == 2
    assert answer.headers["x-request-id"] == packed["request_id"]
    assert served.metric("chunkprep_pack_fill_count") == 1
    assert served.metric("chunkprep_skips_total") == 2
    assert served.stop() == 0
    with Store.open(desk.url) as store:
        [record] = store.packs("default", request_id=packed["request_id"])
    assert record.used_tokens == packed["used_tokens"]
    line = served.line(path="/v1/pack")
    assert (line["request_id"], line["status"]) == (packed["request_id"], 200)


def test_every_reading_route_answers_within_its_collection(desk: Desk, served: Served) -> None:
    assert set(served.get("/openapi.json").json()["paths"]) >= ROUTES
    first = served.get("/v1/documents", limit=1).json()
    second = served.get("/v1/documents", limit=1, after=first["next"]).json()
    keys = [page["documents"][0]["document"] for page in (first, second)]
    assert (keys, second["next"]) == (["bonus.md", "refunds.md"], None)
    [chunk_id] = desk.ids("refunds.md")
    assert served.get(f"/v1/chunks/{chunk_id}").json()["text"].endswith("takes ten days.")
    assert served.get(f"/v1/chunks/{chunk_id}", collection="other").status_code == 404
    feed = served.get("/v1/changes", since=0).json()
    assert served.get("/v1/changes", since=feed["cursor"]).json()["changes"] == []
    assert served.get("/v1/audit").json()["findings"] == []
    assert served.get("/v1/audit", check="nonsense").status_code == 422
    packed = served.post("/v1/pack", {"budget": 99, "candidates": []}).json()["request_id"]
    assert served.get(f"/v1/packs/{packed}", collection="other").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"{", 422, None),
        (b"[]", 422, None),
        (b"\xff", 422, None),
        ({"budget": 0, "candidates": []}, 422, "budget"),
        ({"budget": 9, "candidates": [], "bugdet": 1}, 422, "bugdet"),
        ({"budget": 9, "candidates": [], "collection": "a\x00b"}, 422, "collection"),
        ({"budget": 9, "candidates": [], "collection": "nowhere"}, 404, None),
        ({"budget": 9, "candidates": [{"chunk_id": "x", "score": 1}] * 1001}, 422, "candidates"),
        (b" " * (16 * 1024 * 1024 + 1), 413, None),
    ],
)
def test_a_bad_request_is_a_problem(
    sqlite_served: Served, body: object, status: int, field: str | None
) -> None:
    answer = sqlite_served.post("/v1/pack", body)
    assert (answer.status_code, answer.json().get("field")) == (status, field)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nope", 404), ("/v1/chunks/%00", 422), ("/v1/documents?limit=0", 422),
     ("/v1/documents?collection=%00", 422), ("/v1/documents?as_of=soon", 422),
     ("/v1/changes?since=99999999999999999999", 422), ("/v1/packs/none", 404),
     ("/v1/pack", 405)],
)  # fmt: skip
def test_a_bad_address_is_a_problem(sqlite_served: Served, path: str, status: int) -> None:
    answer = sqlite_served.client.get(path)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.fixture(scope="module")
def sqlite_served(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copyfile(sqlite_template, folder / "store.db")
    desk = Desk(folder / "docs", f"sqlite:///{folder / 'store.db'}")
    desk.write("a.md", "# A\n\nA text.\n")
    desk.run()
    with serving(desk.url, folder) as running:
        yield running


def test_without_keys_another_name_for_this_machine_is_refused(sqlite_served: Served) -> None:
    answer = sqlite_served.client.get("/v1/documents", headers={"Host": "rebound.example"})
    assert answer.status_code == 403


def test_a_key_is_limited_to_its_collections_labels_and_role(
    desk: Desk, cli: Cli, tmp_path: Path
) -> None:
    plain = add_key(cli, desk.url)
    labelled = add_key(cli, desk.url, "--access", "hr")
    admin = add_key(cli, desk.url, "--collection", "*", "--role", "admin")
    [secret_id] = desk.ids("bonus.md")
    with serving(desk.url, tmp_path) as served:
        assert served.get("/v1/documents").status_code == 401
        assert served.get("/v1/documents", plain[:-1]).status_code == 401
        assert served.get("/v1/documents", plain, collection="other").status_code == 403
        assert served.get("/v1/documents", plain, collection="nowhere").status_code == 403
        for path in ("/v1/audit", "/v1/changes", "/v1/packs/x"):
            assert served.get(path, plain).status_code == 403
        assert served.get("/v1/audit", admin, collection="other").status_code == 200

        def seen(key: str) -> tuple[int, int, int]:
            search = served.post("/v1/search", {"query": "refund"}, key).json()["hits"]
            listed = served.get("/v1/documents", key).json()["documents"]
            return (
                len(search),
                len(listed),
                served.get(f"/v1/chunks/{secret_id}", key).status_code,
            )

        assert seen(plain) == (1, 1, 404)
        assert seen(labelled) == (2, 2, 200)
        claim = {
            "budget": 99,
            "candidates": [{"chunk_id": secret_id, "score": 1}],
            "access": ["hr"],
        }
        assert served.post("/v1/pack", claim, plain).status_code == 403
        assert len(served.post("/v1/pack", claim, labelled).json()["blocks"]) == 1
        unclaimed = served.post("/v1/pack", {**claim, "access": []}, labelled).json()
        assert unclaimed["decisions"][0]["reason"] == "filtered"


def test_revoking_the_last_key_lets_nobody_in(desk: Desk, cli: Cli, tmp_path: Path) -> None:
    key = add_key(cli, desk.url)
    [row] = cli.lines("keys", "list", "--store", desk.url)
    assert key.rpartition("_")[2] not in json.dumps(row)
    cli("keys", "revoke", row["key_id"], "--store", desk.url)
    with serving(desk.url, tmp_path) as served:
        assert served.get("/v1/documents", key).status_code == 401
        assert served.get("/v1/documents").status_code == 401
        assert served.get("/healthz").status_code == 200


def test_without_keys_only_loopback_is_bound(desk: Desk, cli: Cli) -> None:
    said = cli("serve", "--host", "0.0.0.0", "--store", desk.url, code=2).stderr
    assert "chunkprep keys add" in said
