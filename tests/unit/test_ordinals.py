"""Numbered blocks: at most 999, because larger numbers cost another token."""

from __future__ import annotations

from tests.support.packing import AT, COUNTER, PROFILE, TEMPLATE, text_row

from chunkprep_packer import Candidate, PackRequest
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.render import render
from chunkprep_packer.summary import decisions, figures

NUMBER_TOKENS = COUNTER.count(TEMPLATE.with_ordinal(TEMPLATE.header("a"), 7)) - COUNTER.count(
    TEMPLATE.header("a")
)


def numbered(count: int, pins: int = 0, **options: object) -> Plan:
    rows = {f"c{n:05}": text_row(f"c{n:05}", f"Text {n}.") for n in range(count)}
    request = PackRequest(
        budget=1_000_000,
        candidates=[Candidate(name, 0.5) for name in rows],
        ordinals=True,
        **options,  # type: ignore[arg-type]
    )
    pinned = [text_row(f"p{n}", f"Pinned {n}.") for n in range(pins)]
    facts = Facts(rows, judge_at(request, AT), pins=pinned, ordinal_tokens={PROFILE: NUMBER_TOKENS})
    return decide(request, request.candidates, facts)


def test_the_rest_is_too_many() -> None:
    plan = numbered(1_200, pins=9)
    assert figures(plan).packed == 990
    assert [d.reason for d in decisions(plan)].count("too_many") == 210
    assert figures(plan).skipped_for_size == 0
    text = render(plan.blocks(), {PROFILE: TEMPLATE}, ordinals=True)
    assert COUNTER.count(text) == plan.used_tokens
    assert "[Source 999: " in text
    assert "[Source 1000: " not in text


def test_pins_alone_may_use_every_number() -> None:
    plan = numbered(3, pins=999)
    assert figures(plan).packed == 0
    assert {d.reason for d in decisions(plan)} == {"too_many"}
    assert plan.rank1 == "no_room"


def test_without_numbers_there_is_no_limit() -> None:
    rows = {f"c{n}": text_row(f"c{n}", f"Text {n}.") for n in range(1_200)}
    request = PackRequest(budget=1_000_000, candidates=[Candidate(name, 0.5) for name in rows])
    plan = decide(request, request.candidates, Facts(rows, judge_at(request, AT)))
    assert figures(plan).packed == 1_200
