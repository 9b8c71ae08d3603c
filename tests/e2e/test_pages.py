"""The inspector in a real browser: numbers, controls, widths, and hostile documents."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Browser
from tests.support.chromium import WIDTHS, Watched, first_pack, read
from tests.support.inspected import EVIL, EVIL_NAME

TABS = ("documents", "packs", "corpus", "health", "runs")


def plain_pack(site: str, *, slot: int) -> str:
    """The id of the pack with that slot, which was logged without vectors."""
    packs = read(f"{site}/default/packs")["packs"]
    return next(str(one["request_id"]) for one in packs if one["slot"] == slot)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_shows_the_numbers_of_its_json(browser: Browser, site: str, width: int) -> None:
    watched = Watched(browser, site, width)
    for path in TABS:
        watched.go(f"/default/{path}")
    facts = watched.go(f"/default/pack/{first_pack(site)}")
    assert sum(part["tokens"] for part in facts["logged"]["segments"]) == facts["logged"]["slot"]
    facts = watched.go("/default/document?key=policies%2Frefund-2026.md")
    assert facts["chunk_count"] == len(facts["chunks"]) == watched.page.locator(".chunk").count()
    assert facts["version"] == 2
    assert facts["changed_count"] == len(facts["changes"]) > 0
    assert facts["same_count"] + facts["changed_count"] >= facts["chunk_count"]
    assert "21" in " ".join(watched.page.locator("ins").all_text_contents())


def test_plots_draw_the_numbers_of_the_json(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    facts, page = watched.go("/default/corpus"), watched.page
    for name in ("steps", "ages"):
        drawn = page.locator(f"figure:has([data-number^='{name}/'])")
        values = [int(text) for text in drawn.locator("text.value").all_text_contents()]
        assert values == [count for count in facts[name].values() if count]
        assert drawn.locator("svg > title").count() == drawn.locator("svg > desc").count() == 1
    facts = watched.go("/default/health")
    assert len(facts["days"]) == 5
    fates = page.locator("figure:has-text('Fate of rank 1 (packs)')")
    for fate in ("packed", "truncated", "no_room", "too_large", "none"):
        bars = fates.locator(f".plot rect.{fate}")
        heights = [float(bar.get_attribute("height") or 0) for bar in bars.all()]
        assert sum(height > 0 for height in heights) == sum(
            day["rank1"][fate] > 0 for day in facts["days"]
        )


def test_the_controls_pack_again(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    before = watched.go(f"/default/pack/{plain_pack(site, slot=700)}")
    assert before["replay"] is None
    page = watched.page
    page.get_by_label("Budget").fill("400")
    page.get_by_label("Strategy").select_option("value_per_token")
    page.get_by_label("Order").select_option("best_last")
    page.get_by_role("button", name="Pack again").click()
    page.wait_for_selector("[data-number='replay/used_tokens']")
    after = read(page.url)
    assert watched.compare(after) > 0
    assert after["chosen"]["strategy"] == "value_per_token"
    assert after["replay"]["used_tokens"] <= after["replay"]["slot"] == 400
    left = page.eval_on_selector_all(".leaves li", "all => all.map(e => e.dataset.chunk)")
    assert left == [one["chunk_id"] for one in after["comparison"]["leaves"]] != []
    watched.hold()


def test_another_lambda_packs_another_set_of_a_pack_logged_with_vectors(
    browser: Browser, site: str
) -> None:
    watched = Watched(browser, site, 390)
    before = watched.go(f"/default/pack/{first_pack(site)}")
    assert before["options"]["mmr"] == 0.9
    page = watched.page
    page.get_by_label("Lambda").fill("0.1")
    page.get_by_role("button", name="Pack again").click()
    page.wait_for_selector("[data-number='replay/used_tokens']")
    after = read(page.url)
    assert watched.compare(after) > 0
    assert not after["problem"]
    assert after["chosen"]["mmr"] == 0.1
    entered = page.eval_on_selector_all(".enters li", "all => all.map(e => e.dataset.chunk)")
    assert entered == [one["chunk_id"] for one in after["comparison"]["enters"]] != []
    watched.hold()


def test_lambda_without_logged_similarities_says_so(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 390)
    watched.go(f"/default/pack/{plain_pack(site, slot=300)}?mmr=0.5")
    assert "without diversity" in watched.page.get_by_role("alert").inner_text()


def test_documents_are_found_and_paged(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    every = watched.go("/default/documents")
    watched.page.get_by_label("Key or title").fill("REFUND")
    watched.page.get_by_role("button", name="Find").click()
    watched.page.wait_for_url("**find=REFUND*")
    found = read(watched.page.url)
    assert 0 < found["found"] == watched.compare(found) // 2 < every["found"]
    assert watched.page.locator("tbody tr").count() == found["found"]


def test_markup_in_a_document_does_nothing(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    page = watched.page
    paths = [*TABS, f"document?key={quote(EVIL_NAME)}", f"pack/{first_pack(site)}"]
    for path in paths:
        watched.go(f"/default/{path}")
        assert page.locator("script, img, iframe, [onerror], [onload], [style]").count() == 0
        assert page.title() != "owned"
    watched.go(f"/default/document?key={quote(EVIL_NAME)}")
    assert page.locator("h1").inner_text() == EVIL
    assert EVIL in page.locator(".metadata").inner_text()
    assert EVIL in page.locator(".chunk h3").first.inner_text()
    assert EVIL in page.locator(".chunk .text").first.inner_text()
    watched.go(f"/default/pack/{first_pack(site)}")
    assert EVIL in page.locator(".block .text").first.inner_text()
    page.get_by_role("link", name=EVIL_NAME).first.click()
    page.wait_for_selector(".chunk")
    assert page.locator("h1").inner_text() == EVIL
    watched.hold()


def test_a_tag_that_a_page_did_not_escape_could_not_run(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    watched.go("/default/corpus")
    watched.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')"
    )
    watched.page.wait_for_timeout(200)
    assert watched.page.title() != "1"
    assert any("Content Security Policy" in said for said in watched.complaints)
