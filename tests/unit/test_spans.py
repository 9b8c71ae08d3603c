"""Labelled answers, looked for in what was packed."""

from __future__ import annotations

import pytest
from tests.support.packing import text_row

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import Boundary
from chunkprep_packer import Label, read_labels, score_spans

FIRST = text_row("a", "One two.\n\nThree four.", document="d.md", ordinal=0)
SECOND = text_row("b", "Five ＜six＞.", document="d.md", ordinal=1)
THIRD = text_row("c", "Seven.", document="d.md", ordinal=3)


@pytest.mark.parametrize(
    ("quote", "document", "present"),
    [
        ("One  two. Three", "d.md", 1),
        ("four.\n\nFive <six>", "d.md", 1),
        ("six>. Seven", "d.md", 0),
        ("One two", "other.md", 0),
        ("Nine", "d.md", 0),
    ],
)
def test_a_quote_is_found_across_neighbours_but_not_across_gaps(
    quote: str, document: str, present: int
) -> None:
    context = [(THIRD, None), (SECOND, None), (FIRST, None)]
    score = score_spans([Label("r", document, quote)], {"r": context})
    assert (score.spans, score.present) == (1, present)


def test_what_a_cut_left_out_is_not_there() -> None:
    context = [(FIRST, Boundary(10, "paragraph", 5)), (SECOND, None)]
    labels = [Label("r", "d.md", q) for q in ("One two.", "Three four.", "One two. Five", "Five")]
    assert score_spans(labels, {"r": context}).share == 0.5


def test_labels_of_other_requests_do_not_count() -> None:
    assert score_spans([Label("other", "d.md", "One")], {"r": []}).spans == 0


def test_labels_are_read_from_json_lines() -> None:
    lines = ['{"request": "r", "document": "d.md", "quote": "One"}', "", "\n"]
    assert read_labels(lines) == [Label("r", "d.md", "One")]
    with pytest.raises(RequestError, match="labels, line 2: "):
        read_labels([*lines[:1], '{"request": "r"}'])
