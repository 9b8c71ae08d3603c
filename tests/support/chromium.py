"""A real Chromium, and a page in it whose every complaint and request is kept."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from chunkprep_packer.pages.rendering import shown

CHROMIUM = "/usr/bin/chromium"
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = (1280, 390)
Scheme = Literal["light", "dark"]


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Debian's Chromium; it is closed afterwards."""
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: apt-get install chromium")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


class Watched:
    """Pages below `site`, or one file; `key` is sent the way a browser sends a password."""

    def __init__(
        self,
        browser: Browser,
        site: str,
        width: int,
        scheme: Scheme = "light",
        key: str | None = None,
    ) -> None:
        self.site, self.key = site, key
        self.complaints, self.foreign = list[str](), list[str]()
        known = None if key is None else {"username": "anybody", "password": key}
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            http_credentials=known,  # type: ignore[arg-type]
        )
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
        facts = read(self.page.url, self.key)
        assert self.compare(facts) > 0
        self.hold()
        return facts

    def hold(self) -> None:
        """Nothing was said, nothing asked of others, and nothing sticks out sideways."""
        assert [c for c in self.complaints if "favicon" not in c] == []
        assert self.foreign == []
        overflow = "document.documentElement.scrollWidth - window.innerWidth"
        assert self.page.evaluate(overflow) <= 0

    def compare(self, facts: Any) -> int:
        """Hold every number shown to that of the facts; returns how many there are."""
        numbers = self.page.eval_on_selector_all(
            "[data-number]", "all => all.map(e => [e.dataset.number, e.textContent])"
        )
        for name, text in numbers:
            assert text == shown(pick(facts, name)), name
        return len(numbers)


def read(url: str, key: str | None = None) -> Any:
    """The JSON of a page."""
    address = url.partition("#")[0]
    request = Request(address + ("&" if "?" in address else "?") + "format=json")
    if key is not None:
        request.add_header("Authorization", f"Basic {b64encode(f'x:{key}'.encode()).decode()}")
    with urlopen(request) as answer:
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


def first_pack(site: str, key: str | None = None) -> str:
    """The id of the latest logged pack."""
    return str(read(f"{site}/default/packs", key)["packs"][0]["request_id"])
