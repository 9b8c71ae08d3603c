"""The seams of docs/exactness.md: Hypothesis tries to find two texts whose counts do not add."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkprep_ingest.counting import is_seam, seam_after, seam_before
from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.template import MAX_ORDINAL, TEMPLATES, Template
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter

AWKWARD = st.sampled_from(
    list(" \t\n\n/.,;:!?'\"()[]{}<>*#|-_=aZ\u00e91\u00a0\u2028\u0085\u000b\f\u3002\u6b21")
    + "'s|'ll|S|ve | the|\n\n|\n  |\n/|```|[Source: |://|\u0301".split("|")
    + "\u200d|\U0001f469|\r|0|99|\u0e01|\u2019s".split("|")
)
TEXT = st.lists(AWKWARD | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join)


@pytest.mark.parametrize("encoding", OFFLINE_ENCODINGS)
@settings(max_examples=500, deadline=None)
@given(text=TEXT)
@example(text="x.\n  \ty")
@example(text="]\n/etc/hosts")
def test_counts_add_at_every_seam(encoding: str, text: str) -> None:
    count = tiktoken_counter(encoding).count
    whole = count(text)
    for at in range(1, len(text)):
        if is_seam(text, at) or seam_before(text, at + 1, at - 1) == at:
            assert count(text[:at]) + count(text[at:]) == whole, (text[:at], text[at:])
        following = seam_after(text, at - 1, at + 1)
        if following == at:
            assert count(text[:at]) + count(text[at:]) == whole, (text[:at], text[at:])


@pytest.mark.parametrize(
    ("encoding", "left", "right"),
    [
        ("o200k_base", "x]\n", "/etc/hosts"),  # "/" joins punctuation and line breaks
        ("o200k_base", "x\n", "\n y"),  # line breaks join line breaks
        ("cl100k_base", "a", "b"),  # two words become one
        ("cl100k_base", "x.", "\n y"),  # punctuation takes the line breaks behind it
    ],
)
def test_counts_do_not_add_elsewhere(encoding: str, left: str, right: str) -> None:
    count = tiktoken_counter(encoding).count
    assert count(left) + count(right) != count(left + right)
    assert not is_seam(left + right, len(left))


@pytest.mark.parametrize("encoding", OFFLINE_ENCODINGS)
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: template.name)
def test_ordinals_cost_the_same_from_1_to_999(encoding: str, template: Template) -> None:
    counter = tiktoken_counter(encoding)
    extra = make_profile(counter, template).ordinal_tokens
    for label in ("Refunds", "/etc", "\u98df\u3079\u7269", "7"):
        header = template.header(label)
        numbered = [template.with_ordinal(header, n) for n in range(1, MAX_ORDINAL + 1)]
        assert {cost - counter.count(header) for cost in counter.counts(numbered)} == {extra}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"opening": "/Source"}, "other than '/'"),
        ({"opening": "\nSource"}, "printable"),
        ({"after_label": "]"}, "line break"),
        ({"delimiter": "\n\n"}, "visible"),
        ({"delimiter": "\n--"}, "exactly one line break"),
        ({"delimiter": "\n--\n\n"}, "exactly one line break"),
        ({"marker": "\ncut"}, "marker"),
        ({"marker": "/cut"}, "marker"),
    ],
)
def test_a_template_that_cannot_be_priced_is_refused(changed: dict[str, str], named: str) -> None:
    parts = {
        "name": "mine", "opening": "[Source", "before_label": ": ", "after_label": "]\n",
        "delimiter": "\n--\n", "marker": "[cut]",
    }  # fmt: skip
    Template(**parts)
    with pytest.raises(ProfileError, match=named):
        Template(**(parts | changed))
