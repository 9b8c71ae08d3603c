"""Which version of which document each block of a logged pack is from, and when it is in force."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_packer import Candidate, Packer, PackRequest, PinText
from chunkprep_packer.pages.router import pages_router
from chunkprep_store import Store

NOW = 1_700_006_400_000_000  # 2023-11-15T00:00:00Z
DAY = 86_400_000_000


def text(word: str) -> str:
    return f"# {word}\n\n" + "\n\n".join(f"{word} {n} says this and that." for n in range(20))


@pytest.fixture
def packed(store: Store) -> Store:
    ingest(store, "ranked.md", text("Ranked"), now=NOW)
    ingest(store, "pinned.md", text("Pinned"), now=NOW, valid_to="2024-06-30")
    candidates = [Candidate(name, 1.0) for name in chunk_ids(store, "ranked.md")]
    with Packer(store, clock=lambda: NOW + 10, log="sync") as packer:
        packer.pack(
            PackRequest(
                budget=2_000, candidates=candidates, pin=["pinned.md"], pin_text=[PinText("Mine.")]
            ),
            request_id="one",
        )
    ingest(store, "ranked.md", text("Ranked again"), now=NOW + DAY)
    return store


def client_of(store: Store) -> TestClient:
    app = FastAPI()
    app.include_router(pages_router(lambda _: store, clock=lambda: NOW + 9 * DAY))
    return TestClient(app)


def blocks(client: TestClient, part: str = "logged", **query: str) -> list[dict[str, Any]]:
    found = client.get("/pages/default/pack/one", params={**query, "format": "json"}).json()
    return list(found[part]["blocks"])


def test_each_block_names_its_document_version_and_range(packed: Store) -> None:
    client = client_of(packed)
    for found in (blocks(client), blocks(client, "replay", budget="1900")):
        pinned = [one for one in found if one["document"] == "pinned.md"]
        ranked = [one for one in found if one["document"] == "ranked.md"]
        [mine] = [one for one in found if one["chunk_id"] is None]
        assert len(pinned) > 1
        assert len(ranked) > 1
        for one in pinned:
            assert (one["version"], one["rank"], one["stored"]) == (1, None, True)
            assert (one["effective_from"], one["effective_to"][:10]) == (None, "2024-06-30")
        for one in ranked:
            assert (one["version"], one["stored"]) == (1, True)
            assert one["effective_to"] == "2023-11-16T00:00:00Z"
        assert (mine["version"], mine["stored"], mine["effective_to"]) == (None, False, None)


def test_the_page_links_pinned_blocks_too_and_shows_versions(packed: Store) -> None:
    shown = client_of(packed).get("/pages/default/pack/one").text
    for key in ("pinned.md", "ranked.md"):
        assert f'<a href="/pages/default/document?key={key}&amp;version=1">{key}</a>' in shown
    blocks_shown = shown.partition('id="blocks"')[2].partition("</table>")[0]
    assert "2023-11-16" in blocks_shown
    assert blocks_shown.count("version=1") == len(blocks(client_of(packed))) - 1
    texts = shown.partition('id="text"')[2]
    assert "version 1" in texts
    assert 'version=1">pinned.md</a>' in texts


def test_what_was_pruned_keeps_its_name_without_a_link(packed: Store) -> None:
    packed.prune("default", ended_before=NOW + 2 * DAY, now=NOW + 3 * DAY, with_packs=True)
    client = client_of(packed)
    ranked = [one for one in blocks(client) if one["document"] == "ranked.md"]
    assert {(one["version"], one["stored"]) for one in ranked} == {(1, False)}
    shown = client.get("/pages/default/pack/one").text
    assert "key=ranked.md" not in shown
    assert "ranked.md" in shown


def test_an_id_that_no_database_holds_is_404(packed: Store) -> None:
    assert client_of(packed).get("/pages/default/pack/a%00b").status_code == 404
