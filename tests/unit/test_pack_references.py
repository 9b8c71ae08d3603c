"""The field's reference examples, with plain values (issue 4)."""

from __future__ import annotations

import random

import pytest

from chunkprep_packer import PackResult, PlainChunk, pack

REFUND = [
    ("refund-policy", 0.91, 700),
    ("refund-faq", 0.88, 450),
    ("shipping", 0.52, 600),
    ("refund-2019-old", 0.85, 900),
    ("contact", 0.40, 150),
    ("returns-form", 0.77, 300),
]


def packed(result: PackResult) -> list[str | None]:
    return [block.chunk_id for block in result.blocks]


def reasons(result: PackResult) -> dict[str, str | None]:
    return {decision.chunk_id: decision.reason for decision in result.decisions}


def test_greedy_with_a_threshold() -> None:
    result = pack(REFUND, 1600, min_score=0.6)
    assert packed(result) == ["refund-policy", "refund-faq", "returns-form"]
    assert result.used_tokens == 1450
    assert reasons(result) == {
        "refund-policy": None,
        "refund-faq": None,
        "refund-2019-old": "no_room",
        "returns-form": None,
        "shipping": "below_min_score",
        "contact": "below_min_score",
    }
    log = result.log
    assert (log.offered, log.packed, log.skipped, log.skipped_for_size) == (6, 3, 3, 1)
    assert (log.used_tokens, log.slot, log.fill) == (1450, 1600, 0.906)
    assert (log.truncation_fired, log.rank1) == (False, "packed")


def test_filled_by_tokens_and_never_by_count() -> None:
    dice = random.Random(4)
    small = [(f"s{n}", 1 - n / 100, dice.randint(180, 300)) for n in range(40)]
    large = [(f"l{n}", 1 - n / 100, dice.randint(700, 900)) for n in range(40)]
    many, few = pack(small, 12_000), pack(large, 12_000)
    assert len(many.blocks) == 40
    assert many.used_tokens == sum(cost for _, _, cost in small) <= 12_000
    assert len(few.blocks) < 20
    assert 12_000 - 900 < few.used_tokens <= 12_000


@pytest.mark.parametrize("order", ["rank", "best_last", "edges"])
def test_rank_1_goes_in_whatever_it_costs(order: str) -> None:
    chunks = [("long", 0.9, 1400), ("short", 0.8, 90)]
    result = pack(chunks, 900, delimiter_cost=12, floor="always", order=order)
    assert packed(result) == ["long"]
    assert result.used_tokens == 1412
    assert result.log.rank1 == "packed"
    assert [w for w in result.warnings if w.startswith("floor_overrun") and "512" in w]


def test_what_does_not_fit_is_skipped_and_later_ones_are_still_considered() -> None:
    chunks = [("a", 0.9, 600), ("b", 0.8, 1400), ("c", 0.7, 90)]
    result = pack(chunks, 1512, delimiter_cost=12, floor="always")
    assert packed(result) == ["a", "c"]
    assert result.used_tokens == 714


def test_stop_at_first_miss_stops_there() -> None:
    chunks = [("a", 0.9, 600), ("b", 0.8, 1400), ("c", 0.7, 90)]
    result = pack(chunks, 1512, delimiter_cost=12, strategy="stop_at_first_miss")
    assert packed(result) == ["a"]
    assert reasons(result) == {"a": None, "b": "no_room", "c": "not_reached"}


def test_eight_versions_of_one_answer_do_not_fill_the_window() -> None:
    alike = [PlainChunk(f"v{n}", 0.9 - n / 1000, 100, vector=[1, n / 100, 0]) for n in range(8)]
    others = [
        PlainChunk("x", 0.6, 100, vector=[0, 1, 0]),
        PlainChunk("y", 0.5, 100, vector=[0, 0, 1]),
    ]
    plain = pack([*alike, *others], 800)
    assert {*packed(plain)} == {f"v{n}" for n in range(8)}
    diverse = pack([*alike, *others], 800, mmr=0.7)
    assert packed(diverse) == ["v0", "x", "y"]
    assert set(reasons(diverse).values()) == {None, "not_diverse"}


def test_a_pinned_upload_is_there_though_the_retriever_ranks_three_pages_above_it() -> None:
    pages = [(f"page-{n}", 0.9, 400) for n in range(3)]
    result = pack(pages, 1000, pins=[("upload", 0.0, 500)])
    assert packed(result)[0] == "upload"
    assert result.pinned_tokens == 500
    assert result.log.packed == 1


def test_value_per_token_takes_short_high_scored_fragments_first() -> None:
    chunks = [
        ("policy", 0.9, 900),
        ("f1", 0.8, 50),
        ("f2", 0.7, 60),
        ("f3", 0.6, 40),
        ("g", 0.85, 850),
    ]
    ranked = pack(chunks, 1000, floor="off")
    dense = pack(chunks, 1000, floor="off", strategy="value_per_token")
    assert packed(ranked) == ["policy", "f1", "f3"]
    assert packed(dense) == ["g", "f1", "f2", "f3"]
    floored = pack(chunks, 1000, strategy="value_per_token")
    assert packed(floored) == ["policy", "f1", "f3"]  # rank 1 first, then by value
