"""The inspector in a real browser over a store of 100,000 chunks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.pack_store import fill_store, make_texts
from playwright.sync_api import Browser
from tests.e2e.conftest import Cli
from tests.support.chromium import Watched, first_pack, read
from tests.support.served_pages import served_pages

from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store

CHUNKS = 100_000
MOST_BYTES = 15_000_000


class Large(NamedTuple):
    """A large store, and the address of its pages."""

    store: str
    site: str


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    """The pages over a large store with one logged pack."""
    file: Path = tmp_path_factory.mktemp("large") / "large.db"
    url = f"sqlite:///{file}"
    with Store.open(url, create=True) as store:
        dice = random.Random(3)
        ids = fill_store(store, CHUNKS, make_texts(200, dice))
        with Packer(store, log="sync") as packer:
            names = dice.sample(ids, 40)
            candidates = [Candidate(name, 1 - n / 50) for n, name in enumerate(names)]
            packer.pack(PackRequest(budget=2000, candidates=candidates))
    with served_pages(url) as address:
        yield Large(url, f"{address}/pages")


@pytest.mark.slow
def test_every_page_shows_the_numbers_of_its_json_for_100_000_chunks(
    browser: Browser, large: Large
) -> None:
    watched, site = Watched(browser, large.site, 1280), large.site
    listed = watched.go("/default/documents")
    chunks, page = 0, listed
    while True:
        chunks += sum(document["chunks"] for document in page["documents"])
        if page["next"] is None:
            break
        page = read(f"{site}/default/documents?first={page['next']}")
    assert chunks == CHUNKS
    watched.page.get_by_role("link", name="Later").click()
    watched.page.wait_for_url("**first=100*")
    assert watched.compare(read(watched.page.url)) > 0
    watched.go("/default/packs")
    watched.go("/default/corpus")
    watched.go("/default/health")
    watched.go(f"/default/document?key={page['documents'][-1]['document']}")
    facts = watched.go(f"/default/pack/{first_pack(site)}")
    assert facts["replay"] is None
    facts = watched.go(f"/default/pack/{first_pack(site)}?budget=4000")
    assert len(facts["comparison"]["enters"]) > 0


@pytest.mark.slow
def test_the_report_of_100_000_chunks_stays_small(browser: Browser, large: Large, cli: Cli) -> None:
    said = cli("report", "--store", large.store, "--out", "report.html").stderr
    file = cli.folder / "report.html"
    assert file.stat().st_size < MOST_BYTES
    assert "left out to keep it small" in said
    watched = Watched(browser, file.as_uri(), 1280)
    watched.page.goto(file.as_uri())
    watched.hold()
    assert "were left out" in watched.page.locator("main > p").nth(1).inner_text()
