"""Failure signatures in the audit, and the report, through the command line."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from tests.e2e.conftest import Cli

QUESTION = "How much of the price is refunded after the refund window?"
EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


class Tags(HTMLParser):
    """Every tag with its attributes, every text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read_page(cli: Cli, *args: object) -> Tags:
    cli("report", "--out", "report.html", *args)
    found = Tags()
    found.feed((cli.folder / "report.html").read_text(encoding="utf-8"))
    found.close()
    return found


def pack_often(cli: Cli, times: int, budget: int) -> None:
    """Log the same pack so many times."""
    lines = cli("search", QUESTION, "--json", "--top", 8).stdout
    for _ in range(times):
        cli("pack", "--budget", budget, "--candidates", "-", input=lines)


def codes(findings: list[Any]) -> set[str]:
    return {f["message"].partition(":")[0] for f in findings if f["check"] == "signatures"}


def test_the_audit_names_signatures_once_there_are_some_tens_of_packs(ingested: Cli) -> None:
    pack_often(ingested, 6, 60)
    assert codes(ingested.lines("audit")) == set()
    asked = ingested.lines("audit", "--check", "signatures")
    assert {"rank1_too_long", "chronically_empty"} & codes(asked)
    assert {f["check"] for f in asked} == {"signatures"}
    pack_often(ingested, 30, 60)
    found = [f for f in ingested.lines("audit") if f["check"] == "signatures"]
    assert codes(found) == codes(asked)
    assert all(f["severity"] in ("info", "warning") and f["remedy"] for f in found)
    assert any("36 of 36 packs" in f["message"] for f in found)


def test_an_unknown_check_is_refused_with_the_list(ingested: Cli) -> None:
    said = ingested("audit", "--check", "vibes", code=2).stderr
    assert "'vibes' is no check" in said
    assert "signatures" in said


def test_the_report_adds_up(ingested: Cli) -> None:
    pack_often(ingested, 6, 300)
    (ingested.folder / "broken.docx").write_bytes(b"PK\x03\x04 no archive")
    ingested.ingest("broken.docx", code=1)
    ingested("set", "policies/booking-changes.md", "review_by=2020-01-01")
    found = ingested.json("report")
    chunks = [
        chunk
        for document in ingested.lines("docs")
        if document["status"] == "active"
        for chunk in ingested.lines("chunks", document["document"])
    ]
    sizes, packs = found["sizes"], found["packs"]
    assert sizes["chunks"] == sum(sizes["histogram"]) == len(chunks)
    assert sizes["tokens"] == sum(chunk["block_tokens"] for chunk in chunks)
    assert sizes["largest"] == max(chunk["block_tokens"] for chunk in chunks) <= sizes["cap"]
    assert packs["packs"] == sum(packs["fill"]) == sum(packs["rank1"].values()) == 6
    assert sum(packs["outcomes"].values()) == packs["offered"] == 6 * 8
    assert packs["outcomes"]["skipped"] == sum(packs["skipped"].values())
    assert found["signatures"][0]["figures"]
    assert [f["document"] for f in found["stale"]] == ["policies/booking-changes.md"]
    assert [f["document"] for f in found["failures"]] == ["broken.docx"]
    assert ingested.json("report", "--since", "2999-01-01")["packs"]["packs"] == 0


def test_terminal_and_page_speak_of_the_same(ingested: Cli) -> None:
    pack_often(ingested, 6, 300)
    shown = ingested("report").stdout.replace("_", " ")
    page = " ".join(read_page(ingested).texts)
    for name in (
        "Skips by reason", "Truncations", "Fate of rank 1", "Failure signatures", "Failures",
        "Largest blocks", "no room", "rank1 too long",
    ):  # fmt: skip
        assert name in shown
        assert name in page


def test_a_script_in_a_title_or_a_message_does_nothing(ingested: Cli) -> None:
    name = "evil<script>alert(3)<script>.md"
    words = "word " * 400
    (ingested.folder / name).write_text(
        f"---\ntitle: '{EVIL}'\nreview_by: 2020-01-01\n---\n# {EVIL}\n\n{words}\n"
    )
    ingested.ingest(name)
    page = read_page(ingested)
    assert any(EVIL in text for text in page.texts)
    assert any(name in text for text in page.texts)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "link", "iframe", "object", "base", "form", "input"}
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in attributes if name.startswith("on")}
    assert not attributes & {"src", "style", "srcdoc", "action"}


def test_the_page_refers_to_nothing_but_itself_and_has_both_schemes(ingested: Cli) -> None:
    pack_often(ingested, 1, 300)
    page = read_page(ingested)
    anchors = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    references = {str(attrs["href"]) for _, attrs in page.tags if "href" in attrs}
    assert len(references) > len(ingested.lines("docs"))
    assert {reference.removeprefix("#") for reference in references} <= anchors
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    text = (ingested.folder / "report.html").read_text(encoding="utf-8")
    for outward in ("://", "url(", "@import", "unsafe"):
        assert outward not in text
    policy = next(str(attrs["content"]) for _, attrs in page.tags if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "prefers-color-scheme: dark" in text


def test_what_does_not_fit_is_left_out_and_the_page_says_so(ingested: Cli) -> None:
    pack_often(ingested, 12, 300)
    said = ingested("report", "--out", "report.html").stderr
    assert "2 of 12 packs" in said
    text = " ".join(" ".join(read_page(ingested).texts).split())
    assert "10 of 12 logged packs are shown in full" in text
    assert "2 packs were left out" in text
    later = " ".join(read_page(ingested, "--since", "2999-01-01").texts)
    assert "No pack is logged." in later
    assert "packs since 2999-01-01 00:00" in later


def test_a_store_with_no_packs_and_a_folder_that_is_not_there(ingested: Cli) -> None:
    assert "No pack is logged." in ingested("report").stdout
    said = ingested("report", "--out", "nowhere/report.html", code=2).stderr
    assert said.count("\n") == 1
    assert "nowhere/report.html" in said
