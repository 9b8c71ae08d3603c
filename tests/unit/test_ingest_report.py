"""The report of a run: what it says in words and as JSON, and what Prefect makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chunkprep_flows.console import json_line
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport, Outcomes, summed

DONE = tuple(DocumentOutcome(f"{n}.md", 1, "new", written=2, tokens=20) for n in range(1000))


def report(*, stopped: bool = False, left: int = 0, done: int = 1000) -> IngestReport:
    return summed(DONE[:done], run_id="r", collection="c", seconds=1.0, stopped=stopped, left=left)


def test_outcomes_are_a_sequence_and_a_list_in_json() -> None:
    outcomes = report(done=3).documents
    assert outcomes == DONE[:3]
    assert outcomes != DONE[:2]
    assert hash(outcomes) == hash(Outcomes(DONE[:3]))
    assert (outcomes[0], outcomes[1:], len(outcomes)) == (DONE[0], DONE[1:3], 3)
    assert repr(outcomes) == "<3 outcomes>"
    told = json.loads(json_line(report(done=3)))
    assert [one["document"] for one in told["documents"]] == ["0.md", "1.md", "2.md"]


def test_prefect_does_not_look_at_every_document_that_a_flow_returns() -> None:
    pytest.importorskip("prefect")
    from prefect.utilities.collections import visit_collection

    seen: list[Any] = []
    visit_collection(report(), visit_fn=seen.append, return_data=False)
    assert len(seen) < 50


@pytest.mark.parametrize(
    ("done", "left", "said"),
    [
        (0, 0, "no document was read; stopped"),
        (0, 3, "no document was read; stopped with 3 documents unread"),
        (2, 1, "2 documents: 2 new; stopped with 1 document unread"),
    ],
)
def test_a_stopped_run_says_how_far_it_came(done: int, left: int, said: str) -> None:
    told = report(stopped=True, left=left, done=done)
    assert f"{told.headline}; {told.how_stopped}" == said
    assert told.trouble
