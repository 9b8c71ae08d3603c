"""Whoever reads the log of packs after one of their documents was erased."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_flows.report import gather, report_record
from chunkprep_flows.report_sections import sections
from chunkprep_packer import Candidate, Packer, PackRequest, Replayer, signatures
from chunkprep_packer.log_figures import log_figures
from chunkprep_packer.pages.report import report_facts, report_html
from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.inspector import inspector_router
from chunkprep_packer.service.settings import ServiceSettings
from chunkprep_store import Store

NOW = 1_700_000_000_000_000
LATER = NOW + 1_000
GONE, KEPT, PINNED = "gone.md", "kept.md", "pinned.md"


def long(word: str) -> str:
    return f"# {word}\n\n" + "\n\n".join(f"{word} {n} says this and that." for n in range(40))


@pytest.fixture
def erased(store: Store) -> Store:
    """Packs of every kind of block, whose documents but one are erased afterwards."""
    for key in (GONE, PINNED):
        ingest(store, key, long(key), now=NOW - 10)
    old = chunk_ids(store, GONE)
    ingest(store, GONE, long(GONE) + " More.", now=NOW - 5)
    ingest(store, KEPT, long(KEPT), now=NOW)
    mixed = zip(chunk_ids(store, GONE), chunk_ids(store, KEPT), strict=False)
    ids = [*old[:2], *(name for pair in mixed for name in pair)]
    candidates = [Candidate(name, 1 - n / 100) for n, name in enumerate(ids)]
    with Packer(store, clock=lambda: LATER, log="sync") as packer:
        for n, options in enumerate(OPTIONS):
            request = PackRequest(candidates=candidates, **options)
            result = packer.pack(request, request_id=f"pack-{n}")
            assert result.blocks
    for key in (GONE, PINNED):
        assert store.erase("default", key, now=LATER + 1).packs
    return store


OPTIONS: tuple[dict[str, Any], ...] = (
    {"budget": 500},
    {"budget": 40, "truncate": "any", "cut_at": "sentence"},
    {"budget": 40, "truncate": "any", "cut_at": "sentence", "on_superseded": "forward"},
    {"budget": 900, "pin": [PINNED], "pin_text": ["a text"], "source": ["*"]},
    {"budget": 900, "on_superseded": "forward", "order": "document"},
    {"budget": 400, "partial_note": True, "ordinals": True},
)


def test_figures_and_signatures_are_as_before_but_for_the_cuts(erased: Store) -> None:
    found = log_figures(erased.packs("default"))
    assert found.packs == len(OPTIONS)
    assert found.truncated_packs == 2
    assert found.outcomes["truncated"] == 2
    assert sum(found.fill) == len(OPTIONS)
    assert list(found.signatures) == signatures(erased.packs("default"))


def test_the_report_is_written(erased: Store) -> None:
    found = gather(erased, "default", now=LATER + 2)
    assert sections(found)
    assert report_record(found)["packs"]["packs"] == len(OPTIONS)
    facts = report_facts(erased, "default", at=LATER + 2)
    assert [pack["request_id"] for pack in facts["packs"]] == [
        f"pack-{n}" for n in reversed(range(len(OPTIONS)))
    ]
    assert "an erased document" in report_html(facts)


def test_every_page_and_the_api_answer(erased: Store) -> None:
    app = create_app(ServiceSettings(erased.url), routers=[inspector_router()])
    with TestClient(app, base_url="http://localhost") as client:
        for page in ("documents", "packs", "corpus", "health", "runs"):
            assert client.get(f"/pages/default/{page}").status_code == 200, page
        for n in range(len(OPTIONS)):
            for query in ("", "?budget=300", "?mmr=0.5", "?format=json"):
                answer = client.get(f"/pages/default/pack/pack-{n}{query}")
                assert answer.status_code == 200, (n, query)
            logged = client.get(f"/v1/packs/pack-{n}").json()["result"]
            for block in logged["blocks"]:
                assert {"document", "version", "truncated", "pinned"} <= set(block)
            assert all("forwarded_from" in decision for decision in logged["decisions"])
        assert GONE not in client.get("/v1/packs/pack-0").text
        assert client.get("/v1/audit").status_code == 200


def test_replays_say_what_is_gone(erased: Store) -> None:
    replayer = Replayer(erased, "default")
    proofs = list(replayer.verify(erased.packs("default")))
    assert [proof.verdict for proof in proofs] == ["gone"] * len(OPTIONS)
    for replaying in (replayer, Replayer(erased, "default", as_now=LATER + 2)):
        for replayed in replaying.replay(erased.packs("default"), {"budget": 200}):
            assert replayed.after is None
            assert "gone" in replayed.detail
        assert list(replaying.compare(erased.packs("default"), {"budget": 200})) == []


def test_impact_names_the_packs_of_what_is_kept(erased: Store) -> None:
    assert {hit.document for hit in erased.impact("default", KEPT)} == {KEPT}
    assert erased.impact("default", GONE) == []
