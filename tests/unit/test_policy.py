"""The settings of a policy: what each does, what is refused, and what the fingerprint keeps."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from tests.support.splitting import ENCODINGS

from chunkprep_ingest.errors import PolicyError
from chunkprep_ingest.model import Chunk, Element, ParsedDocument
from chunkprep_ingest.policy import MAX_CAP, Policy
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

ROWS = "\n".join(f"| item {n} | {n * 7} EUR |" for n in range(60))
TABLE = f"| what | price |\n|---|---|\n{ROWS}"
CODE = "```py\n" + "\n".join(f"value_{n} = {n}" for n in range(60)) + "\n```"
MIXED = "# Prices\n\nAll of them:\n\n| what | price |\n|---|---|\n| tea | 2 EUR |\n\nAs of today."


def chunks(source: str | ParsedDocument, encoding: str = "o200k_base", **rules: Any) -> list[Chunk]:
    """The chunks of a Markdown text under a policy with these settings."""
    parsed = source
    if isinstance(parsed, str):
        parsed = read(parsed.encode(), "a.md", ReadOptions())
    counter = tiktoken_counter(encoding)
    profile = make_profile(counter, TEMPLATES["markdown"])
    return list(split(parsed, "Prices", Policy(**rules), profile, counter, "2026-03-01"))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_alone_shares_its_chunk_with_its_heading_only(encoding: str) -> None:
    assert len(chunks(MIXED, encoding)) == 1
    assert [c.text.split("\n")[0] for c in chunks(MIXED, encoding, tables="alone")] == [
        "# Prices", "| what | price |", "As of today.",
    ]  # fmt: skip
    below = "# Prices\n\nText.\n\n## Tea\n\n| what | price |\n|---|---|\n| tea | 2 EUR |"
    assert [c.kind for c in chunks(below, encoding, tables="alone")] == ["prose", "table"]
    assert chunks(below, encoding, tables="alone")[1].text.startswith("## Tea\n\n| what")


def test_code_alone_is_parted_from_the_text_around_it() -> None:
    text = "Say it:\n\n```\nhello\n```\n\nThat is all."
    assert [c.kind for c in chunks(text, code="alone")] == ["prose", "code", "prose"]
    assert len(chunks(text, tables="alone")) == 1


def test_a_tables_header_is_repeated_unless_told_otherwise() -> None:
    repeated = chunks(TABLE, cap=128)
    assert len(repeated) > 3
    assert all(c.text.startswith("| what | price |") for c in repeated)
    once = chunks(TABLE, cap=128, repeat_table_header=False)
    assert [c.text.startswith("| what | price |") for c in once] == [True] + [False] * (
        len(once) - 1
    )
    assert not any(c.additions for c in once)


def test_a_code_fence_is_reopened_unless_told_otherwise() -> None:
    reopened = chunks(CODE, cap=128)
    assert all(c.text.startswith("```py\n") and c.text.endswith("```") for c in reopened)
    plain = chunks(CODE, cap=128, reopen_code_fences=False)
    assert len(plain) > 3
    assert sum(c.text.count("```") for c in plain) == 2
    assert not any(c.additions for c in plain)


def test_a_row_over_the_cap_is_a_record_or_parts_between_cells() -> None:
    cell = "a long remark about the item " * 6
    wide = f"| what | remark |\n|---|---|\n| tea | {cell} |\n| milk | {cell} |"
    assert {c.rendering for c in chunks(wide, cap=64)} == {"records"}
    assert any("remark: a long" in c.text for c in chunks(wide, cap=64))
    cells = chunks(wide, cap=64, wide_rows="cells")
    assert {c.rendering for c in cells} == {"verbatim"}
    assert not any("remark: a long" in c.text for c in cells)


def test_header_fields_stand_behind_the_path_and_each_page_has_its_own() -> None:
    text = "First page. " * 30 + "\n\n" + "Second page. " * 30
    at = text.index("Second")
    elements = (
        Element("paragraph", 0, at - 2, 0, 1),
        Element("paragraph", at, len(text) - 1, 0, 2),
    )
    parsed = ParsedDocument(text.rstrip(), elements, "x/1")
    shown = chunks(parsed, cap=128, header_fields=("page", "date"))
    assert shown[0].header == "[Source: Prices (2026-03-01, page 1)]\n"
    assert shown[-1].header == "[Source: Prices (2026-03-01, page 2)]\n"
    assert chunks(parsed, cap=128, header_fields=("date",))[0].header.endswith("(2026-03-01)]\n")
    assert chunks(parsed, cap=128)[0].header == "[Source: Prices]\n"


def test_a_header_gives_up_its_fields_only_after_all_else() -> None:
    parsed = ParsedDocument("Some text.", (Element("paragraph", 0, 10, 0, 7),), "x/1")
    counter = tiktoken_counter("o200k_base")
    profile = make_profile(counter, TEMPLATES["markdown"])

    def header(cap: int) -> str:
        policy = Policy(cap=cap, header_fields=("page", "date"))
        return split(parsed, "A title of many words", policy, profile, counter, "2026-03-01")[
            0
        ].header

    assert header(128) == "[Source: A title of many words (2026-03-01, page 7)]\n"
    assert header(72) == "[Source: A title\u2026 (2026-03-01, page 7)]\n"
    assert header(64) == "[Source: A title of many words]\n"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"tables": "apart"}, "tables: 'apart' is not one of mixed, alone"),
        ({"code": ""}, "code: '' is not one of mixed, alone"),
        ({"wide_rows": "rows"}, "wide_rows: 'rows' is not one of records, cells"),
        ({"header_fields": ("author",)}, "header_fields: 'author' is not one of page, date"),
    ],
)
def test_a_word_that_is_none_is_refused_with_those_that_are(
    rules: dict[str, Any], told: str
) -> None:
    with pytest.raises(PolicyError, match=told):
        Policy(**rules)


def test_settings_that_came_later_leave_the_fingerprints_before_them_alone() -> None:
    assert Policy().fingerprint == "d63583f7b2202ad1"
    assert Policy(cap=300, target=200).fingerprint == "a14ef19570f54d7f"
    assert Policy(tables="alone").fingerprint != Policy().fingerprint
    assert Policy(tables="mixed").fingerprint == Policy().fingerprint


def test_a_policy_comes_back_from_the_json_that_the_store_keeps() -> None:
    policy = Policy(header_fields=("date", "page"), code="alone")
    again = Policy(**json.loads(json.dumps(asdict(policy))))
    assert again == policy
    assert again.fingerprint == policy.fingerprint
    assert Policy(header_fields=("page", "date"), code="alone") == policy


def test_a_cap_beyond_every_window_is_refused() -> None:
    assert Policy(cap=MAX_CAP).cap == MAX_CAP
    with pytest.raises(PolicyError, match=f"use at most {MAX_CAP}"):
        Policy(cap=MAX_CAP + 1)
