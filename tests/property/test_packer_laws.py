"""Laws 1, 4, 5, 6, 8 and 9 over random rows and requests, with a slow packer as oracle."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.packing import AT, COUNTER, PROFILE, TEMPLATE, text_row
from tests.support.slow_packer import slow_pack

from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.model import BOUNDARY_KINDS, ChunkRow
from chunkprep_packer.answer import shared_json
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.logged import LoggedPack
from chunkprep_packer.record import Logged, to_record
from chunkprep_packer.render import render
from chunkprep_packer.request import (
    Candidate,
    Dedupe,
    Floor,
    Order,
    PackRequest,
    Strategy,
    Truncate,
)
from chunkprep_packer.result import FOR_SIZE, Outcome, Reason
from chunkprep_packer.summary import blocks, decisions, figures

LINES = [
    "Refunds are paid within 14 days.", "/etc/hosts is a file", "// a comment", "<|endoftext|>",
    "食べ物は美味しい", "aGVsbG8gd29ybGQhIQ==", "- item one", "x", "| a | b |", "    indented",
    "👩‍👩‍👧‍👦 family", "## Heading", "Line with trailing words and more words and more.",
]  # fmt: skip
ORDINAL_TOKENS = COUNTER.count(TEMPLATE.with_ordinal(TEMPLATE.header("a"), 1)) - COUNTER.count(
    TEMPLATE.header("a")
)
MOMENTS = st.sampled_from([None, None, AT - 10, AT - 1, AT, AT + 1])
LABELS = st.sampled_from(["[]", '["hr"]', '["hr","it"]'])
NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"]


def lists(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=2)


@st.composite
def rows(draw: st.DrawFn, name: str) -> ChunkRow:
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))
    text = "\n".join(lines)
    ends = [at + 1 for at, char in enumerate(text) if char == "\n"]
    cuts = [(end, draw(st.sampled_from(BOUNDARY_KINDS))) for end in ends]
    lanes = draw(st.sampled_from([0, 1, 3, 4]))
    signature = draw(
        st.sampled_from([b"", b"\1" * 128, b"\2\0\0\0" * lanes + b"\1" * (128 - 4 * lanes)])
    )
    return text_row(
        name,
        text,
        cuts,
        document=draw(st.sampled_from(["x.md", "y.md", "z/w.md"])),
        ordinal=draw(st.integers(0, 3)),
        status=draw(
            st.sampled_from(["active", "active", "active", "superseded", "withdrawn", "draft"])
        ),
        effective_from=draw(MOMENTS),
        effective_to=draw(st.none() | MOMENTS),
        stored_at=draw(st.integers(0, 3)),
        access=draw(LABELS),
        tags=draw(st.sampled_from(["[]", '["t"]', '["u"]'])),
        source=draw(st.sampled_from([None, "handbook"])),
        authority=draw(st.integers(0, 2)),
        truncatable=draw(st.booleans()),
        signature=signature,
    )


@st.composite
def stores(draw: st.DrawFn) -> dict[str, ChunkRow]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=8))
    return {name: draw(rows(name)) for name in names}


def literal(kind: object) -> st.SearchStrategy[str]:
    return st.sampled_from(get_args(kind))


OPTIONS = st.fixed_dictionaries(
    {"dedupe": literal(Dedupe), "strategy": literal(Strategy), "truncate": literal(Truncate)},
    optional={
        "min_score": st.sampled_from([-1.0, 0.0, 0.5]),
        "floor": literal(Floor),
        "cut_at": st.sampled_from(BOUNDARY_KINDS),
        "cut_any_kind": st.booleans(),
        "order": literal(Order),
        "source": lists(["*.md", "z/*", "handbook", "nowhere"]),
        "tag": lists(["t", "u", "v"]),
        "access": lists(["hr", "it", "cfo"]),
        "min_authority": st.integers(0, 3),
        "effective_after": st.sampled_from([0, AT - 20, AT - 10, AT - 1]),
        "ordinals": st.booleans(),
    },
)
SCORES = st.sampled_from([-2.5, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0]) | st.floats(-10, 10)
CANDIDATES = st.lists(st.tuples(st.sampled_from([*NAMES, "unknown"]), SCORES), max_size=10)


def plan_for(
    candidates: list[tuple[str, float]],
    store: dict[str, ChunkRow],
    options: dict[str, Any],
    pins: list[ChunkRow],
    successors: dict[str, ChunkRow],
) -> Plan:
    request = PackRequest(candidates=[Candidate(*c) for c in candidates], **options)
    facts = Facts(
        store,
        judge_at(request, AT),
        successors=successors,
        pins=pins,
        ordinal_tokens={PROFILE: ORDINAL_TOKENS},
    )
    return decide(request, request.candidates, facts)


@st.composite
def budgets(draw: st.DrawFn, store: dict[str, ChunkRow], extra: int) -> int:
    """Any budget, or one that some blocks and cuts fill exactly, give or take one."""
    prices = [row.block_tokens for row in store.values()]
    prices += [entry[2] for row in store.values() for entry in json.loads(row.boundaries)]
    if not prices or draw(st.integers(0, 2)) == 0:
        return draw(st.integers(1, 200))
    filled = draw(st.lists(st.sampled_from(prices), min_size=1, max_size=3))
    return max(1, sum(filled) + extra * len(filled) + draw(st.sampled_from([0, 0, 0, -1, 1])))


@st.composite
def successions(draw: st.DrawFn, store: dict[str, ChunkRow]) -> dict[str, ChunkRow]:
    """Some rows become superseded; most of them by another row."""
    found: dict[str, ChunkRow] = {}
    names = sorted(store)
    for name in draw(st.lists(st.sampled_from(names), max_size=3)) if len(names) > 1 else []:
        successor = draw(st.sampled_from(names))
        store[name] = store[name]._replace(
            status="superseded", effective_from=None, effective_to=AT - 1
        )
        if successor != name:
            found[name] = store[successor]
    return {old: store[row.chunk_id] for old, row in found.items()}


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    store = draw(stores())
    successors = draw(successions(store)) if draw(st.booleans()) else {}
    options: dict[str, Any] = dict(draw(OPTIONS))
    extra = ORDINAL_TOKENS if options.get("ordinals") else 0
    options["budget"] = draw(budgets(store, extra))
    pins: list[ChunkRow] = []
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True)):
        row = store.get(name)
        spent = sum(pin.block_tokens + extra for pin in pins)
        if row is not None and spent + row.block_tokens + extra <= options["budget"]:
            pins.append(row)
    return {
        "candidates": draw(CANDIDATES),
        "store": store,
        "options": options,
        "pins": pins,
        "successors": successors,
    }


def text_of(plan: Plan) -> str:
    return render(plan.blocks(), {PROFILE: TEMPLATE}, ordinals=plan.options.ordinals)


@settings(max_examples=500, deadline=None)
@given(situations())
def test_a_slow_packer_decides_the_same(situation: dict[str, Any]) -> None:
    plan = plan_for(**situation)
    expected = slow_pack(
        situation["candidates"],
        situation["store"],
        situation["options"],
        at=AT,
        pins=situation["pins"],
        successors=situation["successors"],
        ordinal_tokens=ORDINAL_TOKENS,
    )
    assert [(d.chunk_id, d.outcome, d.reason, d.tokens) for d in decisions(plan)] == [
        (f.chunk_id, f.outcome, f.reason, f.tokens) for f in expected.fates
    ]
    assert [
        (b.chunk_id, b.truncated and b.truncated.offset) for b in blocks(plan)
    ] == expected.blocks
    assert plan.used_tokens == expected.used
    assert plan.rank1 == expected.rank1


@settings(max_examples=500, deadline=None)
@given(situations())
def test_the_laws_hold(situation: dict[str, Any]) -> None:
    plan = plan_for(**situation)
    text, shown, log = text_of(plan), blocks(plan), figures(plan)
    options, store = situation["options"], situation["store"]
    # law 1: exact, in every order
    assert COUNTER.count(text) == plan.used_tokens == sum(block.tokens for block in shown)
    # law 4: never over, but by the floor
    if options.get("floor") != "always":
        assert plan.used_tokens <= options["budget"]
    # law 5: cut only where recorded, at the recorded price, with the marker
    for block in shown:
        row = store[block.chunk_id]
        if block.truncated is None:
            assert row.text in text
        else:
            entries = {offset: kind for offset, kind, _ in json.loads(row.boundaries)}
            assert entries[block.truncated.offset] == block.truncated.kind
            assert row.text[: block.truncated.offset] + TEMPLATE.marker in text
            assert len(row.text) == block.truncated.offset + block.truncated.omitted_chars
    # law 6: in force
    for block in shown:
        row = store[block.chunk_id]
        if not block.pinned:
            assert in_force(row.status, row.effective_from, row.effective_to, AT)
    # law 9: a decision for each candidate, with a reason from the list
    made = decisions(plan)
    assert len(made) == log.offered == len(situation["candidates"])
    assert sorted(d.rank for d in made) == list(range(1, len(made) + 1))
    assert all(d.outcome in get_args(Outcome) for d in made)
    assert all(d.reason in get_args(Reason) for d in made if d.outcome == "skipped")
    assert all(d.reason is None for d in made if d.outcome != "skipped")
    assert log.packed + log.skipped + log.pinned == log.offered
    assert len(shown) == log.packed + len(situation["pins"])
    assert log.skipped_for_size == sum(d.reason in FOR_SIZE for d in made)
    assert log.truncated == sum(d.outcome == "truncated" for d in made)


@settings(max_examples=100, deadline=None)
@given(situations(), st.randoms())
def test_the_order_of_candidates_does_not_matter(situation: dict[str, Any], random: Any) -> None:
    plan = plan_for(**situation)
    random.shuffle(situation["candidates"])
    again = plan_for(**situation)
    assert text_of(again) == text_of(plan)
    assert decisions(again) == decisions(plan)


@settings(max_examples=150, deadline=None)
@given(situations())
def test_used_grows_with_the_budget(situation: dict[str, Any]) -> None:
    used = plan_for(**situation).used_tokens
    overrun = used > situation["options"]["budget"]
    situation["options"]["budget"] += 1
    more = plan_for(**situation).used_tokens
    assert more >= used or overrun


@settings(max_examples=150, deadline=None)
@given(situations(), literal(Order))
def test_an_order_moves_blocks_and_changes_nothing_else(
    situation: dict[str, Any], order: str
) -> None:
    plan = plan_for(**situation)
    situation["options"]["order"] = order
    other = plan_for(**situation)
    assert other.used_tokens == plan.used_tokens
    assert sorted(map(repr, blocks(other))) == sorted(map(repr, blocks(plan)))
    assert decisions(other) == decisions(plan)
    pins = len(situation["pins"])
    assert blocks(other)[:pins] == blocks(plan)[:pins]


@settings(max_examples=200, deadline=None)
@given(situations())
def test_the_log_alone_rebuilds_the_pack_whatever_became_of_its_chunks(
    situation: dict[str, Any],
) -> None:
    plan, store = plan_for(**situation), situation["store"]
    request = PackRequest(
        candidates=[Candidate(*c) for c in situation["candidates"]], **situation["options"]
    )
    text = text_of(plan)
    templates = {PROFILE: TEMPLATE}
    logged_pack = Logged("r1", AT, AT, COUNTER.encoding, request, plan, text, templates, ())
    shared = shared_json(blocks=blocks(plan), decisions=decisions(plan), log=figures(plan))
    record = to_record(logged_pack, shared)
    logged = LoggedPack.of(record)
    later = [
        store[name]._replace(status="withdrawn", effective_to=1, effective_from=7, access='["x"]')
        for name in logged.known_ids()
    ]
    facts = replace(logged.facts(later, templates), ordinal_tokens={PROFILE: ORDINAL_TOKENS})
    again = decide(logged.request, logged.request.candidates, facts)
    assert decisions(again) == decisions(plan)
    assert text_of(again) == text
