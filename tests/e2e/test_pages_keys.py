"""The pages behind the service's keys, in a real browser that is asked for one."""

from __future__ import annotations

import re

from playwright.sync_api import Browser
from tests.e2e.conftest import Cli
from tests.support.chromium import Watched, first_pack
from tests.support.served_pages import served_pages

WHOLE = ("packs", "corpus", "health", "runs")


def new_key(cli: Cli, *args: str) -> str:
    """A key, as the command line tells it once."""
    found = re.search(r"\S{30,}", cli("keys", "add", *args).stdout)
    assert found is not None
    return found.group()


def test_a_key_shows_what_it_may_see(browser: Browser, inspected: Cli) -> None:
    auditor = new_key(inspected, "auditor", "--role", "admin", "--access", "*")
    reader = new_key(inspected, "reader")
    inspected("set", "policies/refund-2026.md", "access=hr")
    with served_pages(inspected.url) as address:
        site = f"{address}/pages"
        watched = Watched(browser, site, 1280, key=auditor)
        for path in ("documents", *WHOLE, f"pack/{first_pack(site, auditor)}?budget=500"):
            watched.go(f"/default/{path}")
        assert watched.go("/default/document?key=policies%2Frefund-2026.md")["version"] == 2
        limited = Watched(browser, site, 1280, key=reader)
        listed = limited.go("/default/documents")["documents"]
        assert "policies/refund-2026.md" not in [one["document"] for one in listed]
        for path, status in (*((name, 403) for name in WHOLE),
                             ("document?key=policies%2Frefund-2026.md", 404)):  # fmt: skip
            answer = limited.page.goto(f"{site}/default/{path}")
            assert answer is not None
            assert answer.status == status
            assert limited.page.get_by_role("alert").count() == 1


def test_without_a_key_nothing_is_shown(browser: Browser, inspected: Cli) -> None:
    new_key(inspected, "auditor", "--role", "admin", "--access", "*")
    with served_pages(inspected.url) as address:
        for key in (None, "wrong"):
            watched = Watched(browser, address, 1280, key=key)
            answer = watched.page.request.get(f"{address}/pages/default/documents")
            assert answer.status == 401
            assert "policies/" not in answer.text()
