"""The inspector in a real browser over a store of 100,000 chunks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.pack_store import fill_store, make_texts
from playwright.sync_api import Browser
from tests.e2e.test_pages import Watched, browser, first_pack
from tests.support.served_pages import served_pages

from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store

__all__ = ["browser"]

CHUNKS = 100_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pages over a large store with one logged pack."""
    file: Path = tmp_path_factory.mktemp("large") / "large.db"
    with Store.open(f"sqlite:///{file}", create=True) as store:
        dice = random.Random(3)
        ids = fill_store(store, CHUNKS, make_texts(200, dice))
        with Packer(store, log="sync") as packer:
            names = dice.sample(ids, 40)
            candidates = [Candidate(name, 1 - n / 50) for n, name in enumerate(names)]
            packer.pack(PackRequest(budget=2000, candidates=candidates))
        with served_pages(store) as address:
            yield f"{address}/pages"


@pytest.mark.slow
def test_every_page_shows_the_numbers_of_its_json_for_100_000_chunks(
    browser: Browser, large: str
) -> None:
    watched = Watched(browser, large, 1280)
    listed = watched.go("/default/documents")["documents"]
    assert sum(document["chunks"] for document in listed) == CHUNKS
    watched.go("/default/packs")
    watched.go("/default/corpus")
    watched.go("/default/health")
    watched.go(f"/default/document?key={listed[-1]['document']}")
    facts = watched.go(f"/default/pack/{first_pack(large)}")
    assert facts["replay"] is None
    facts = watched.go(f"/default/pack/{first_pack(large)}?budget=4000")
    assert len(facts["comparison"]["enters"]) > 0
