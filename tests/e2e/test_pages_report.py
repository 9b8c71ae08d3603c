"""`chunkprep report --out` in a real browser, from a file, with nothing to ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser
from tests.e2e.conftest import Cli
from tests.support.chromium import WIDTHS, Watched
from tests.support.inspected import EVIL, EVIL_NAME

from chunkprep_packer.pages.report import Bounds, report_facts, report_html
from chunkprep_store import Store

NOW = 1_800_000_000_000_000


def written(cli: Cli, **bounds: int) -> tuple[Path, Any]:
    """The file and the facts that it shows, at a moment of its own."""
    with Store.open(cli.url, create=False) as store:
        facts = report_facts(store, "default", at=NOW, bounds=Bounds(**bounds))
    file = cli.folder / "report.html"
    file.write_text(report_html(facts), encoding="utf-8")
    return file, orjson.loads(orjson.dumps(facts))


@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_offline_and_shows_its_numbers(
    browser: Browser, inspected: Cli, width: int
) -> None:
    file, facts = written(inspected)
    watched = Watched(browser, file.as_uri(), width)
    watched.page.context.set_offline(True)
    watched.page.goto(file.as_uri())
    assert watched.compare(facts) > 300
    watched.hold()
    page = watched.page
    assert page.locator("section.page").count() == 5 + len(facts["documents"]) + len(facts["packs"])
    assert page.locator(".chunk").count() == sum(len(d["chunks"]) for d in facts["documents"])
    assert page.locator(".slot").count() == len(facts["packs"]) == 5
    assert page.locator("svg.plot").count() == 8
    assert "rgb" in page.evaluate("getComputedStyle(document.querySelector('header')).background")


def test_links_lead_to_its_own_parts(browser: Browser, inspected: Cli) -> None:
    file, facts = written(inspected)
    watched = Watched(browser, file.as_uri(), 1280)
    page = watched.page
    page.goto(file.as_uri())
    page.locator("#list a", has_text="policies/refund-2026.md").click()
    number = [one["document"] for one in facts["documents"]].index("policies/refund-2026.md")
    assert page.url.endswith(f"#documents/{number}")
    part = page.locator("section:target")
    assert part.locator("h2").inner_text() == "Refund policy 2026"
    assert part.locator("ins").count() > 0
    part.get_by_role("link", name="Back to the top").click()
    page.get_by_role("link", name="Health").click()
    assert page.locator("section:target h2").inner_text() == "Health"
    watched.hold()


def test_markup_in_a_document_does_nothing(browser: Browser, inspected: Cli) -> None:
    file, _ = written(inspected)
    watched = Watched(browser, file.as_uri(), 1280)
    watched.page.goto(file.as_uri())
    watched.hold()
    page = watched.page
    assert page.locator("script, img, iframe, form, [onerror], [onload], [style]").count() == 0
    assert page.title() == "default · chunkprep report"
    assert page.locator("section", has_text=EVIL_NAME).count() > 0
    assert page.get_by_role("heading", name=EVIL, exact=True, level=2).count() == 1


def test_what_exceeds_a_bound_is_left_out_and_named(browser: Browser, inspected: Cli) -> None:
    file, facts = written(inspected, documents=3, packs=1, text=100)
    known = facts["left_out"]["documents_known"]
    assert [len(facts["documents"]), len(facts["packs"])] == [3, 1]
    assert facts["left_out"] == {
        "documents_known": known, "documents": known - 3, "packs_logged": 5, "packs": 4,
    }  # fmt: skip
    watched = Watched(browser, file.as_uri(), 390)
    watched.page.goto(file.as_uri())
    assert watched.compare(facts) > 50
    watched.hold()
    said = watched.page.locator("main").inner_text()
    assert f"3 of {known} documents and 1 of 5 logged packs are shown in full" in said
    assert "The first 100 of" in said


def test_bytes_are_bounded_too(inspected: Cli) -> None:
    _, facts = written(inspected, size=20_000)
    assert 0 < len(facts["documents"]) < facts["left_out"]["documents_known"]
    assert (inspected.folder / "report.html").stat().st_size < 500_000
