"""The inspector in a real browser: numbers, controls, widths, and hostile documents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.e2e.conftest import Cli
from tests.support.served_pages import served_pages

from chunkprep_packer.pages.rendering import shown
from chunkprep_store import Store

CHROMIUM = "/usr/bin/chromium"
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
QUESTION = "How much of the price is refunded after the refund window?"
EVIL = "<script>document.title='owned'</script><img src=//evil.example/x onerror=alert(1)>"
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: apt-get install chromium")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture
def site(ingested: Cli) -> Iterator[str]:
    """The pages over the samples, a hostile document, one edit, a failure and some packs."""
    policy = ingested.folder / "samples" / "policies" / "refund-2026.md"
    if not policy.exists():
        shutil.copytree(Path(__file__).parents[2] / "samples", ingested.folder / "samples")
    policy.write_text(
        policy.read_text(encoding="utf-8").replace("within 14 days", "within 21 days"),
        encoding="utf-8",
    )
    ingested.ingest("samples")
    evil = ingested.folder / "evil<b>.md"
    evil.write_text(f"# {EVIL}\n\nRefund after the window: {EVIL} {'word ' * 60}\n")
    (ingested.folder / "broken.docx").write_bytes(b"PK\x03\x04 no archive")
    ingested.ingest(evil)
    ingested.ingest("broken.docx", code=1)
    ingested("set", "policies/booking-changes.md", "review_by=2020-01-01")
    lines = ingested("search", QUESTION, "--json", "--top", 12).stdout
    for budget in (300, 700, 1200):
        ingested("pack", "--budget", budget, "--candidates", "-", input=lines)
    url = f"sqlite:///{(ingested.folder / 'chunkprep.db').as_posix()}"
    with Store.open(url, create=False) as store, served_pages(store) as address:
        yield f"{address}/pages"


class Watched:
    """A page whose every complaint and request is kept."""

    def __init__(self, browser: Browser, site: str, width: int, scheme: Any = "light") -> None:
        self.site, self.complaints, self.foreign = site, list[str](), list[str]()
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = context.new_page()
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self._requested(request.url))

    def _requested(self, url: str) -> None:
        if not url.startswith(self.site) and not url.endswith("/favicon.ico"):
            self.foreign.append(url)

    def go(self, path: str) -> Any:
        """Open it, hold it to silence and to its width, and compare it with its JSON."""
        self.page.goto(self.site + path)
        assert self.compare() > 0
        assert [c for c in self.complaints if "favicon" not in c] == []
        assert self.foreign == []
        overflow = "document.documentElement.scrollWidth - window.innerWidth"
        assert self.page.evaluate(overflow) <= 0
        return read(self.page.url)

    def compare(self) -> int:
        """Hold every number shown to the JSON's; returns how many there are."""
        facts = read(self.page.url)
        numbers = self.page.eval_on_selector_all(
            "[data-number]", "all => all.map(e => [e.dataset.number, e.textContent])"
        )
        for name, text in numbers:
            assert text == shown(pick(facts, name)), name
        return len(numbers)


def read(url: str) -> Any:
    """The JSON of a page."""
    address = url.partition("#")[0]
    with urlopen(address + ("&" if "?" in address else "?") + "format=json") as answer:
        return json.load(answer)


def pick(facts: Any, name: str) -> Any:
    """The value at a path of keys and positions, or a count of moves."""
    if name in ("enters_count", "leaves_count"):
        return len(facts["comparison"][name.removesuffix("_count")])
    found, rest = facts, name
    while rest:
        if isinstance(found, list):
            key, _, rest = rest.partition("/")
            found = found[int(key)]
        elif rest in found:
            return found[rest]
        else:
            key, _, rest = rest.partition("/")
            found = found[key]
    return found


def first_pack(site: str) -> str:
    return str(read(f"{site}/default/packs")["packs"][0]["request_id"])


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_shows_the_numbers_of_its_json(browser: Browser, site: str, width: int) -> None:
    watched = Watched(browser, site, width)
    for path in ("documents", "packs", "corpus", "health"):
        watched.go(f"/default/{path}")
    facts = watched.go(f"/default/pack/{first_pack(site)}")
    assert sum(part["tokens"] for part in facts["logged"]["segments"]) == facts["logged"]["slot"]
    facts = watched.go("/default/document?key=policies%2Frefund-2026.md")
    assert facts["chunk_count"] == len(facts["chunks"]) == watched.page.locator(".chunk").count()
    assert facts["version"] == 2
    assert "changed" in {change["what"] for change in facts["changes"]}
    assert "21" in " ".join(watched.page.locator("ins").all_text_contents())


def test_the_controls_pack_again(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    before = watched.go(f"/default/pack/{first_pack(site)}")
    assert before["replay"] is None
    page = watched.page
    page.get_by_label("Budget").fill("400")
    page.get_by_label("Strategy").select_option("value_per_token")
    page.get_by_label("Order").select_option("best_last")
    page.get_by_role("button", name="Pack again").click()
    page.wait_for_selector("[data-number='replay/used_tokens']")
    after = read(page.url)
    assert watched.compare() > 0
    assert after["chosen"]["strategy"] == "value_per_token"
    assert after["replay"]["used_tokens"] <= after["replay"]["slot"] == 400
    left = page.eval_on_selector_all(".leaves li", "all => all.map(e => e.dataset.chunk)")
    assert left == [one["chunk_id"] for one in after["comparison"]["leaves"]] != []
    assert watched.complaints == []


def test_lambda_without_logged_similarities_says_so(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 390)
    watched.go(f"/default/pack/{first_pack(site)}?mmr=0.5")
    assert "without diversity" in watched.page.get_by_role("alert").inner_text()


def test_a_script_in_a_document_does_nothing(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280)
    watched.go(f"/default/document?key={quote('evil<b>.md')}")
    page = watched.page
    assert EVIL in page.locator(".chunk .text").first.inner_text()
    assert page.locator("script, img, iframe, [onerror]").count() == 0
    assert page.title() != "owned"
    watched.go("/default/documents")


def test_the_keyboard_reaches_the_controls_and_dark_is_dark(browser: Browser, site: str) -> None:
    watched = Watched(browser, site, 1280, scheme="dark")
    watched.go(f"/default/pack/{first_pack(site)}")
    page, reached = watched.page, set[str]()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.name || document.activeElement.className")
        )
    assert {"skip", "budget", "strategy", "order", "mmr"} <= reached
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 30)"
