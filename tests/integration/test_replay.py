"""Logged packs: proved byte for byte, and done another way, on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.errors import RequestError
from chunkprep_packer import (
    Candidate,
    Label,
    Packer,
    PackRequest,
    PackResult,
    Replayer,
    score_spans,
    signatures,
    total,
)
from chunkprep_packer.logged import LoggedPack
from chunkprep_packer.ranking import rank
from chunkprep_store import PackRecord, Store
from chunkprep_store.tables import chunks, pack_chunks, packs

NOW = 1_700_000_000_000_000


def text(words: str, paragraphs: int) -> str:
    body = "\n\n".join(
        f"{words} number {n} says {'more ' * (n % 4)}this." for n in range(paragraphs)
    )
    return f"# {words}\n\n{body}\n"


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = NOW + 100

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def packer(store: Store, clock: Clock) -> Iterator[Packer]:
    ingest(store, "refund.md", text("Refund", 40), now=NOW)
    ingest(store, "faq.md", text("Question", 30), now=NOW + 1)
    with Packer(store, clock=clock, log="sync") as opened:
        yield opened


def candidates(store: Store) -> list[Candidate]:
    ids = [*chunk_ids(store, "refund.md"), *chunk_ids(store, "faq.md")]
    return [
        Candidate(name, round(1 - n / 50, 3), [1.0, n % 3, n % 5]) for n, name in enumerate(ids)
    ]


def pack(packer: Packer, budget: int = 200, **options: Any) -> PackResult:
    if "candidates" not in options:
        options["candidates"] = candidates(packer.store)
    return packer.pack(PackRequest(budget=budget, **options))


def records(packer: Packer) -> list[PackRecord]:
    packer.flush()
    return list(packer.store.packs("default"))


EVERY_WAY: list[dict[str, Any]] = [
    {},
    {"strategy": "value_per_token", "order": "edges"},
    {"strategy": "stop_at_first_miss", "order": "best_last", "floor": "off"},
    {"order": "chronological", "truncate": "any", "cut_at": "sentence"},
    {"order": "document", "ordinals": True, "partial_note": True},
    {"mmr": 0.6, "query_vector": [1.0, 0.5, 0.0]},
    {"mmr": 0.3, "pin": ["faq.md"], "budget": 600},
    {"pin_text": ["An uploaded file."], "ordinals": True},
    {"pin_text": ["An uploaded file."], "log_pinned_text": True, "order": "edges"},
    {"budget": 1, "floor": "always"},
    {"budget": 1},
    {"dedupe": "near", "min_score": 0.8, "tag": ["none"]},
    {"candidates": [Candidate("unknown", 0.5)]},
    {"candidates": []},
]


def change_everything(store: Store) -> None:
    """Both documents gain two versions, lose their source, and change their dates."""
    for n in (1, 2):
        ingest(store, "refund.md", text("Money back", 30 + n), now=NOW + 1_000 * n)
        ingest(store, "faq.md", text("Answer", 7 + n), now=NOW + 1_000 * n)
    store.set_metadata("default", "refund.md", {"authority": 3, "access": ["hr"]}, now=NOW + 5_000)
    store.withdraw("default", "faq.md", now=NOW + 6_000, reason="out of date")


@pytest.mark.parametrize("options", EVERY_WAY, ids=lambda o: "-".join(map(str, o)) or "plain")
def test_an_unchanged_replay_gives_the_logged_text(
    packer: Packer, clock: Clock, options: dict[str, Any]
) -> None:
    result = pack(packer, **options)
    change_everything(packer.store)
    clock.now = NOW + 10_000
    [record] = records(packer)
    replayer = Replayer(packer.store, "default")
    [proof] = replayer.verify([record])
    assert proof.verdict.startswith("identical"), proof.detail
    [replayed] = replayer.replay([record], {})
    assert replayed.before is not None
    if not options.get("pin_text") or options.get("log_pinned_text"):
        assert replayer.text(replayed.before) == result.text
        assert (proof.verdict, proof.detail) == ("identical", "")
    else:
        assert proof.verdict == "identical_but_pins"
        assert "pinned" in proof.detail


def test_forwarding_is_replayed_as_it_was(packer: Packer, clock: Clock) -> None:
    old = candidates(packer.store)
    ingest(packer.store, "refund.md", text("Refund", 41), now=NOW + 50)
    result = pack(packer, 400, candidates=old, on_superseded="forward", order="chronological")
    assert any(d.forwarded_from for d in result.decisions)
    change_everything(packer.store)
    assert [p.verdict for p in Replayer(packer.store, "default").verify(records(packer))] == [
        "identical"
    ]


def test_a_record_that_was_tampered_with_is_found(packer: Packer) -> None:
    pack(packer)
    [record] = records(packer)
    replayer = Replayer(packer.store, "default")
    data = json.loads(record.result_json)
    other_text = replace(record, result_json=json.dumps({**data, "text_hash": "0" * 64}))
    assert [p.verdict for p in replayer.verify([other_text])] == ["differs"]
    data["decisions"][0]["tokens"] += 1
    [proof] = replayer.verify([replace(record, result_json=json.dumps(data))])
    assert proof.verdict == "differs"
    assert data["decisions"][0]["chunk_id"] in proof.detail


COLUMNS: dict[str, Any] = {
    "used_tokens": 1,
    "slot": 5_000,
    "as_of": NOW - 10**14,
    "encoding": "cl100k_base",
    "request": "xx",
    "result": "xx",
    "warnings": "xx",
}


ASKED = {"as_of": NOW + 100, "encoding": "o200k_base"}


@pytest.mark.parametrize("format", [1, 2])
@pytest.mark.parametrize(
    ("column", "asked"),
    [*((column, ASKED) for column in COLUMNS), ("as_of", {}), ("slot", {}), ("used_tokens", {})],
)
def test_a_column_that_says_otherwise_than_its_json_is_found(
    packer: Packer, column: str, format: int, asked: dict[str, Any]
) -> None:
    pack(packer, **asked)
    [record] = records(packer)
    with packer.store.database.write() as connection:
        if format == 1:
            connection.execute(packs.update().values(**format_1(record)))
        connection.execute(packs.update().values({column: COLUMNS[column]}))
    [proof] = Replayer(packer.store, "default").verify(records(packer))
    assert proof.verdict == "differs"
    assert column in proof.detail
    found = [f for f in packer.store.audit("default", now=NOW + 200) if f.check == "pack_log"]
    assert [f.severity for f in found] == ["error"]
    assert record.request_id in found[0].message


def format_1(record: PackRecord) -> dict[str, str]:
    """The JSON of a record as it was written before candidates were left out of the request."""
    request, result = json.loads(record.request_json), json.loads(record.result_json)
    request["candidates"] = [
        {"chunk_id": d["chunk_id"], "score": d["score"]} for d in result["decisions"]
    ]
    return {"request": json.dumps(request), "result": json.dumps({**result, "format": 1})}


@pytest.mark.parametrize("damage", ["gone", "another", "cut"])
def test_packed_chunks_that_are_not_those_of_the_pack_are_found(
    packer: Packer, damage: str
) -> None:
    pack(packer)
    where = pack_chunks.c.position == 0
    with packer.store.database.write() as connection:
        connection.execute(
            {
                "gone": pack_chunks.delete().where(where),
                "another": pack_chunks.update().where(where).values(chunk_id="0" * 32),
                "cut": pack_chunks.update().where(where).values(cut_offset=3),
            }[damage]
        )
    [proof] = Replayer(packer.store, "default").verify(records(packer))
    assert (proof.verdict, "packed chunk" in proof.detail) == ("differs", True)
    found = packer.store.audit("default", now=NOW + 200, checks=["pack_log"])
    assert [f.severity for f in found] == ["error"]


def test_a_log_in_order_has_no_findings_whatever_was_erased(packer: Packer) -> None:
    for options in EVERY_WAY:
        pack(packer, **options)
    audit = packer.store.audit
    assert list(audit("default", now=NOW + 200, checks=["pack_log"])) == []
    packer.store.erase("default", "faq.md", now=NOW + 300)
    assert list(audit("default", now=NOW + 400, checks=["pack_log"])) == []


def test_a_record_of_format_1_is_read(packer: Packer) -> None:
    repeated = candidates(packer.store)
    asked = [*repeated[:2], *repeated, Candidate("unknown", 0.5)]
    pack(packer, 200, candidates=asked, min_score=0.8)
    [record] = records(packer)
    named = [{"chunk_id": each.chunk_id, "score": each.score} for each in asked]
    request = json.dumps({**json.loads(record.request_json), "candidates": named})
    data = json.loads(record.result_json)
    first = {"format": 1, "blocks": [{**block, "chars": 0} for block in data["blocks"]]}
    old = replace(record, request_json=request, result_json=json.dumps({**data, **first}))
    assert "candidates" not in json.loads(record.request_json)
    assert [tuple(LoggedPack.of(each).request.candidates) for each in (old, record)] == [
        tuple(Candidate(each.chunk_id, each.score) for each in asked),
        tuple(rank(Candidate(each.chunk_id, each.score) for each in asked)),
    ]
    proofs = Replayer(packer.store, "default").verify([old, record])
    assert [proof.verdict for proof in proofs] == ["identical"] * 2


def test_what_was_skipped_and_erased_does_not_hinder_a_proof(packer: Packer) -> None:
    ingest(packer.store, "other.md", text("Other", 3), now=NOW)
    other = [Candidate(name, 0.01) for name in chunk_ids(packer.store, "other.md")]
    pack(packer, 60, candidates=[*candidates(packer.store)[:4], *other])
    packer.flush()
    packer.store.erase("default", "other.md", now=NOW + 60)
    proofs = Replayer(packer.store, "default").verify(records(packer))
    assert [proof.verdict for proof in proofs] == ["identical"]


def forget(store: Store, chunk_ids: set[str]) -> None:
    """Take chunk rows away, as pruning does."""
    with store.database.write() as connection:
        connection.execute(chunks.delete().where(chunks.c.chunk_id.in_(chunk_ids)))


def test_a_pack_whose_chunks_are_gone_is_told(packer: Packer) -> None:
    result = pack(packer)
    first = result.blocks[0].chunk_id
    assert first is not None
    forget(packer.store, {first})
    [proof] = Replayer(packer.store, "default").verify(records(packer))
    assert (proof.verdict, proof.detail) == ("gone", f"chunk {first} is gone")


def test_what_was_not_packed_may_be_gone(packer: Packer) -> None:
    old = candidates(packer.store)
    ingest(packer.store, "refund.md", text("Refund", 41), now=NOW + 50)
    new = candidates(packer.store)
    repeated = [Candidate(c.chunk_id, c.score, c.vector) for c in [*old, *new, *new[:2]]]
    results = [
        pack(packer, 200, candidates=repeated, min_score=0.8, dedupe="near"),
        pack(packer, 300, candidates=repeated, mmr=0.5, ordinals=True, truncate="any"),
    ]
    shown = {block.chunk_id for result in results for block in result.blocks}
    forget(packer.store, {c.chunk_id for c in repeated} - shown)
    replayer = Replayer(packer.store, "default")
    assert [proof.verdict for proof in replayer.verify(records(packer))] == ["identical"] * 2
    for replayed in replayer.replay(records(packer), {"budget": 5_000}):
        assert replayed.after is None
        assert " gone" in replayed.detail


def test_vectors_and_pinned_texts_stay_out_of_the_log(packer: Packer) -> None:
    pack(packer, pin_text=["A secret upload."], mmr=0.5, query_vector=[0.5, 0.25, 0.125])
    [record] = records(packer)
    assert "secret" not in record.request_json + record.result_json
    assert "vector" not in record.request_json
    request = json.loads(record.request_json)
    assert request["pin_text"][0]["tokens"] > 0
    assert len(request["pin_text"][0]["hash"]) == 64
    assert "text" not in json.loads(record.result_json)


def test_a_request_that_asks_for_no_log_leaves_none(packer: Packer) -> None:
    pack(packer, log=False)
    assert records(packer) == []


def test_the_record_names_its_chunks_with_place_and_cut(packer: Packer) -> None:
    result = pack(packer, 170, truncate="any", cut_at="sentence", pin_text=["Upload."])
    [record] = records(packer)
    assert record.request_id == result.request_id
    assert (record.slot, record.used_tokens) == (170, result.used_tokens)
    assert [(c.chunk_id, c.position, c.offset) for c in record.chunks] == [
        (b.chunk_id, position, b.truncated.offset if b.truncated else None)
        for position, b in enumerate(result.blocks)
        if b.chunk_id is not None
    ]


def test_another_budget_shows_what_enters(packer: Packer) -> None:
    pack(packer, 150)
    pack(packer, 5_000)
    compared = list(
        Replayer(packer.store, "default").compare(records(packer), {"budget": 300}, small=40)
    )
    first, second = compared
    assert first.enters
    assert not first.leaves
    assert first.after.used_tokens > first.before.used_tokens
    assert first.after.score_sum > first.before.score_sum
    assert second.leaves
    assert not second.enters
    whole = total(compared)
    assert (whole.requests, whole.changed) == (2, 2)


def test_value_per_token_is_compared_with_ranked_before_anyone_adopts_it(packer: Packer) -> None:
    bits = []
    for name in ("a.md", "b.md", "c.md"):
        ingest(packer.store, name, f"# {name}\n\nIn short: {name}.\n", now=NOW)
        bits += [Candidate(chunk, 0.7) for chunk in chunk_ids(packer.store, name)]
    pack(packer, 130, candidates=[*candidates(packer.store), *bits])
    [one] = Replayer(packer.store, "default").compare(
        records(packer), {"strategy": "value_per_token", "floor": "off"}, small=30
    )
    assert one.after.small_share > one.before.small_share
    assert one.after.top_share < one.before.top_share


def test_as_now_judges_by_todays_store(packer: Packer) -> None:
    pack(packer, 400)
    change_everything(packer.store)
    kept = records(packer)
    [logged] = Replayer(packer.store, "default").compare(kept, {})
    assert not logged.leaves
    [now] = Replayer(packer.store, "default", as_now=NOW + 10_000).compare(kept, {})
    assert now.after.packed == 0
    assert len(now.leaves) == now.before.packed


def test_lambda_can_be_changed_from_the_logged_similarities(packer: Packer) -> None:
    pack(packer, 300, mmr=1.0, mmr_max_similarity=1.0)
    pack(packer, 300)
    with_vectors, without = records(packer)
    replayer = Replayer(packer.store, "default")
    [changed] = replayer.replay([with_vectors], {"mmr": 0.1})
    assert changed.before is not None
    assert changed.after is not None
    assert changed.before.screened.survivors != changed.after.screened.survivors
    told, done = replayer.replay([without, with_vectors], {"mmr": 0.1})
    assert told.after is None
    assert "was packed without diversity" in told.detail
    assert done.after is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0}, "^budget: must be"),
        ({"source": ["x"]}, "^source: not an option of a replay"),
    ],
)
def test_a_change_that_is_wrong_is_refused(
    packer: Packer, changes: dict[str, Any], message: str
) -> None:
    pack(packer)
    with pytest.raises(RequestError, match=message):
        list(Replayer(packer.store, "default").replay(records(packer), changes))


def test_pins_that_no_longer_fit_are_told_and_end_nothing(packer: Packer) -> None:
    pack(packer, 2_000, pin=["faq.md"])
    pack(packer, 2_000)
    replayed = list(Replayer(packer.store, "default").replay(records(packer), {"budget": 50}))
    assert replayed[0].after is None
    assert "pins_exceed_slot" in replayed[0].detail
    assert replayed[1].after is not None


def test_replays_are_scored_against_labelled_answers(packer: Packer) -> None:
    result = pack(packer, 150)
    replayer = Replayer(packer.store, "default")
    labels = [
        Label(result.request_id, "refund.md", "Refund number 0\n says this."),
        Label(result.request_id, "faq.md", "Question number 1 says more this."),
        Label("another request", "faq.md", "Question"),
    ]

    def share(budget: int) -> float:
        [one] = replayer.replay(records(packer), {"budget": budget})
        assert one.after is not None
        return score_spans(labels, {one.request_id: one.after.blocks()}).share

    assert (share(60), share(5_000)) == (0.5, 1.0)


def test_the_log_shows_its_signatures(packer: Packer) -> None:
    full = pack(packer, 200).used_tokens
    for _ in range(5):
        pack(packer, full)
    codes = [s.code for s in signatures(records(packer))]
    assert "always_exhausted" in codes


def test_a_lost_record_is_told_in_the_next_answer(store: Store) -> None:
    ingest(store, "refund.md", text("Refund", 3), now=NOW)
    packer = Packer(store, log="sync")
    assert packer._log is not None
    packer._log._capacity = 0
    [warning] = pack(packer, candidates=[]).warnings
    assert warning.startswith("log_dropped: 1 ")
    packer.close()
