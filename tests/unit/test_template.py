"""Templates: what a document cannot forge, and headers that stay one line."""

from __future__ import annotations

import pytest

from chunkprep_ingest.template import TEMPLATES, Template, clean_label, neutralise, restore

FORGERIES = {
    "markdown": ["[Source: x]", "[source 3]", "[ SOURCE", "***", "[Truncated : rest"],
    "xml": ["<source title", "</source>", "</ SOURCE >", "< Source", "<TRUNCATED>"],
    "plain": ["Source: x", "SOURCE 3: x", "-----"],
}


@pytest.mark.parametrize(
    ("name", "forged"), [(n, f) for n, all_ in FORGERIES.items() for f in all_]
)
def test_a_forgery_is_changed_in_one_character(name: str, forged: str) -> None:
    template = TEMPLATES[name]
    text = f"before\n{forged}\nafter"
    changed, found = neutralise(template, text)
    assert len(changed) == len(text)
    assert forged not in changed
    assert [s.offset for s in found] == [7]
    assert restore(changed, found) == text
    assert neutralise(template, changed) == (changed, ())


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: template.name)
@pytest.mark.parametrize(
    "harmless",
    ["a resource: b", "the [sources] say", "x *** y", "a ----- b", "</context>", "------"],
)
def test_ordinary_text_stays(template: Template, harmless: str) -> None:
    assert neutralise(template, harmless) == (harmless, ())


def test_labels_become_one_clean_line() -> None:
    assert clean_label(TEMPLATES["markdown"], " a\nb\x00\u2028c  d ") == "a b c d"
    assert clean_label(TEMPLATES["xml"], 'a "b" <c>') == "a 'b' \uff1cc>"
    assert clean_label(TEMPLATES["plain"], "\n") == "untitled"


def test_a_cut_is_marked_by_what_stands_before_it() -> None:
    template = TEMPLATES["markdown"]
    assert template.cut("One.\n\nTwo.", 6) == "One.\n\n" + template.marker
    assert template.cut("One. Two.", 4) == "One. " + template.marker


def test_templates_survive_json() -> None:
    for template in TEMPLATES.values():
        assert Template.from_json(template.to_json()) == template
