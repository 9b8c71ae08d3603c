"""Where sentences end, in many scripts."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex

from chunkprep_ingest import sentences
from chunkprep_ingest.sentences import sentence_ends


def parts(text: str) -> list[str]:
    edges = [0, *sentence_ends(text), len(text)]
    return [text[a:b].strip() for a, b in pairwise(edges)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He left (early.) Then", ["He left (early.)", "Then"]),
        ('She said "No." Then', ['She said "No."', "Then"]),
        ("It costs 3.50 today. Yes.", ["It costs 3.50 today.", "Yes."]),
        ("See fig. 3 and Mr. Hill, e.g. Tom. So.", ["See fig. 3 and Mr. Hill, e.g. Tom.", "So."]),
        ("J. S. Bach wrote it. Fine.", ["J. S. Bach wrote it.", "Fine."]),
        ("ends in lower. case stays", ["ends in lower. case stays"]),
        ("1. First item. Second", ["1. First item.", "Second"]),
        ("Wait... Then", ["Wait...", "Then"]),
        ("Refund etc.? Yes?! No", ["Refund etc.?", "Yes?!", "No"]),
        ("Dr. No?! Yes \u2026? Well", ["Dr. No?!", "Yes \u2026?", "Well"]),
        ("\u6b21\u6587\u3002\u7d42\u308f\u308a", ["\u6b21\u6587\u3002", "\u7d42\u308f\u308a"]),
        ("\u092f\u0939\u0964 \u0935\u0939\u0964", ["\u092f\u0939\u0964", "\u0935\u0939\u0964"]),
        ("\u0647\u0644\u061f \u0646\u0639\u0645", ["\u0647\u0644\u061f", "\u0646\u0639\u0645"]),
        ("", [""]),
    ],
)  # fmt: skip
def test_sentences_end(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


@pytest.mark.parametrize(
    "end", "\u0964\u0965\u061f\u06d4\u104b\u17d4\u0589\u1362\u3002\uff01\uff1f"
)
def test_every_terminator_of_the_cases_is_known(end: str) -> None:
    assert sentence_ends(f"\u0915{end} \u0915") == [2]


def test_terminators_are_those_of_unicode() -> None:
    ours = set("".join(sentences._STERM_BY_LEAD.values()))
    unicode_ = {
        chr(c) for c in range(0x80, 0x10000) if regex.match(r"\p{Sentence_Break=STerm}", chr(c))
    }
    assert unicode_ - ours == set()
