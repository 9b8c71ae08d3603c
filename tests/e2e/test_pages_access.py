"""The pages for people who do not see well, or use no mouse: axe-core's rules, and the keyboard."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.e2e.conftest import Cli
from tests.support.chromium import WIDTHS, Scheme, Watched, first_pack
from tests.support.inspected import EVIL_NAME

VIEWS: list[tuple[int, Scheme]] = [(w, s) for w in WIDTHS for s in ("light", "dark")]
FOCUSED = """() => {
    const at = document.activeElement, box = at.getBoundingClientRect();
    return [at.name || at.textContent.trim() || at.className, getComputedStyle(at).outlineStyle,
            box.width > 0 && box.height > 0];
}"""


def violations(page: Page) -> list[str]:
    """What axe-core finds, with every closed part opened."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_axe_finds_nothing_on_any_page(
    browser: Browser, site: str, width: int, scheme: Scheme
) -> None:
    watched = Watched(browser, site, width, scheme)
    pack = f"/default/pack/{first_pack(site)}"
    for path in (
        "", "/default/documents", "/default/packs", "/default/corpus", "/default/health",
        "/default/runs", f"/default/document?key={quote('policies/refund-2026.md')}",
        f"/default/document?key={quote(EVIL_NAME)}", pack, f"{pack}?budget=400&mmr=0.1",
        "/default/document?key=nothing",
    ):  # fmt: skip
        watched.page.goto(site + path)
        assert violations(watched.page) == [], path


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_axe_finds_nothing_in_the_report(
    browser: Browser, inspected: Cli, width: int, scheme: Scheme
) -> None:
    inspected("report", "--out", "report.html")
    file = (inspected.folder / "report.html").as_uri()
    watched = Watched(browser, file, width, scheme)
    watched.page.goto(file)
    assert violations(watched.page) == []


def focused(page: Page, times: int) -> list[str]:
    """Names of what the Tab key reaches one after the other, each to be seen and outlined."""
    names = list[str]()
    for _ in range(times):
        page.keyboard.press("Tab")
        name, outline, visible = page.evaluate(FOCUSED)
        assert visible, name
        assert outline != "none", name
        names.append(name)
    return names


def test_the_keyboard_goes_from_top_to_bottom(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280, "dark")
    watched.go(f"/default/pack/{first_pack(site)}")
    page = watched.page
    names = focused(page, 12)
    assert names == [
        "Skip to the content", "chunkprep", "Documents", "Packs", "Corpus", "Health", "Runs",
        "budget", "strategy", "order", "mmr", "Pack again",
    ]  # fmt: skip
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 30)"


def test_a_pack_is_made_again_without_a_mouse(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 390)
    watched.go(f"/default/pack/{first_pack(site)}")
    page = watched.page
    focused(page, 8)
    page.keyboard.press("Control+A")
    page.keyboard.type("350")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-number='replay/used_tokens']")
    assert "budget=350" in page.url


def test_the_first_link_skips_to_the_content(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    watched.go("/default/documents")
    page = watched.page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    assert focused(page, 1) == ["find"]
