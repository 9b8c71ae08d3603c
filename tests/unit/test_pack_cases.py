"""Inputs that break packers (cases/packing.md), with plain values."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkprep_ingest.errors import PinsExceedSlot, RequestError
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer import PackResult, PlainChunk, pack


def sizes(*costs: int) -> list[tuple[str, float, int]]:
    """Chunks c1, c2, … of these costs, best first."""
    return [(f"c{n}", 1 - n / 100, cost) for n, cost in enumerate(costs, start=1)]


def packed(result: PackResult) -> list[str | None]:
    return [block.chunk_id for block in result.blocks]


def reason(result: PackResult, name: str) -> str | None:
    return next(d.reason for d in result.decisions if d.chunk_id == name)


def test_three_of_sixty_in_a_hundred() -> None:
    assert pack(sizes(60, 60, 60), 100).used_tokens == 60


def test_a_first_chunk_of_5000_in_50() -> None:
    result = pack(sizes(5_000), 50)
    assert result.used_tokens == 0
    assert result.log.rank1 == "too_large"
    assert {w.split(":")[0] for w in result.warnings} == {
        "rank1_too_large",
        "budget_below_smallest",
    }


def test_a_first_chunk_of_5000_is_cut_where_a_boundary_fits() -> None:
    long = PlainChunk(
        "long",
        0.9,
        5_000,
        text="x" * 900,
        boundaries=[(100, "paragraph", 20), (200, "sentence", 40)],
    )
    result = pack([long], 50)
    assert result.used_tokens == 20  # a sentence is no permitted boundary by default
    cut = result.blocks[0].truncated
    assert cut is not None
    assert (cut.offset, cut.kind, cut.omitted_chars) == (100, "paragraph", 800)
    assert (result.log.rank1, result.log.truncation_fired) == ("truncated", True)
    assert pack([long], 50, cut_at="sentence").used_tokens == 40
    assert pack([long], 50, truncate="never").used_tokens == 0


def test_the_30_is_packed_though_120_and_150_do_not_fit_80() -> None:
    result = pack(sizes(120, 150, 30), 80)
    assert packed(result) == ["c3"]
    assert result.log.rank1 == "too_large"
    assert result.log.skipped_for_size == 2


def test_filling_goes_on_after_a_cut() -> None:
    first = PlainChunk("c1", 0.9, 500, boundaries=[(10, "paragraph", 50)])
    assert packed(pack([first, ("c2", 0.8, 50)], 100)) == ["c1", "c2"]


def test_an_exact_fit_is_packed_whole_and_one_token_less_leaves_one_out() -> None:
    full = pack(sizes(30, 30, 40), 100)
    assert (full.log.packed, full.log.fill) == (3, 1.0)
    assert pack(sizes(30, 30, 40), 99).log.skipped == 1


@given(st.integers(-10, 10))
def test_a_budget_below_1_is_an_error_and_never_unlimited(budget: int) -> None:
    if budget < 1:
        with pytest.raises(RequestError, match=r"^budget: must be at least 1"):
            pack(sizes(1, 1), budget)
    else:
        assert pack(sizes(1, 1), budget).used_tokens == min(budget, 2)


@pytest.mark.parametrize("budget", [None, "100", 10.5, True, math.inf])
def test_a_budget_that_is_no_whole_number_is_an_error(budget: Any) -> None:
    with pytest.raises(RequestError, match=r"^budget: "):
        pack(sizes(1), budget)


def test_a_special_token_in_a_text_is_priced_as_text() -> None:
    count = tiktoken_counter("o200k_base").count
    assert pack([("a", 1.0, "<|endoftext|>")], 100, count=count).used_tokens == 7


def test_the_same_text_under_three_ids_is_packed_once() -> None:
    chunks = [("a", 0.9, "same text"), ("b", 0.8, "same text"), ("c", 0.95, "same text")]
    result = pack(chunks, 1000, count=len)
    assert packed(result) == ["c"]
    assert reason(result, "a") == reason(result, "b") == "duplicate"
    assert len(pack(chunks, 1000, count=len, dedupe="none").blocks) == 3


def test_the_same_id_three_times_is_packed_once() -> None:
    result = pack([("a", 0.5, 10), ("a", 0.9, 10), ("a", 0.7, 10)], 1000)
    assert packed(result) == ["a"]
    assert [d.reason for d in result.decisions] == [None, "duplicate_id", "duplicate_id"]
    assert [d.score for d in result.decisions] == [0.9, 0.7, 0.5]


def test_equal_scores_are_ranked_by_chunk_id() -> None:
    names = ["d", "a", "c", "b"]
    first = pack([(name, 0.5, 10) for name in names], 25)
    again = pack([(name, 0.5, 10) for name in reversed(names)], 25)
    assert packed(first) == packed(again) == ["a", "b"]
    assert first.model_dump_json() == again.model_dump_json()


@pytest.mark.parametrize("scale", [(-9.5, -3.0, 7.5), (0.0161, 0.0163, 0.0328)])
def test_a_minimum_score_means_what_the_caller_says(scale: tuple[float, ...]) -> None:
    low, middle, high = scale
    result = pack([("a", low, 1), ("b", high, 1), ("c", middle, 1)], 10, min_score=middle)
    assert packed(result) == ["b", "c"]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, None, "0.9", True, 10**400])
def test_a_score_that_is_no_finite_number_is_refused(score: Any) -> None:
    with pytest.raises(RequestError, match=r"^candidates\[1\]\.score: must be a finite number"):
        pack([("a", 0.5, 1), ("b", score, 1)], 10)


def test_candidates_are_sorted_before_anything_else() -> None:
    assert packed(pack([("low", 0.1, 90), ("high", 0.9, 90)], 100)) == ["high"]


def test_an_item_under_the_threshold_stops_nothing() -> None:
    result = pack([("a", 0.9, 10), ("b", 0.1, 10), ("c", 0.8, 10)], 100, min_score=0.5)
    assert packed(result) == ["a", "c"]


def test_everything_below_the_minimum_is_an_empty_pack_with_reasons() -> None:
    result = pack(sizes(10, 10), 100, min_score=2.0)
    assert (result.text, result.used_tokens, result.log.rank1) == ("", 0, "none")
    assert {d.reason for d in result.decisions} == {"below_min_score"}
    assert result.warnings[0].startswith("nothing_survived")


def test_no_candidates_are_an_empty_pack_without_a_warning() -> None:
    result = pack([], 100)
    assert (result.blocks, result.decisions, result.warnings) == ([], [], [])


def test_pins_over_the_slot_name_both_numbers() -> None:
    with pytest.raises(PinsExceedSlot, match=r"^pins_exceed_slot: .*150 tokens.* 100;"):
        pack([], 100, pins=[("a", 0.0, 70), ("b", 0.0, 80)])


def test_pins_may_fill_the_slot_exactly() -> None:
    result = pack(sizes(10), 150, pins=[("a", 0.0, 70), ("b", 0.0, 80)])
    assert (packed(result), result.log.fill) == (["a", "b"], 1.0)
    assert reason(result, "c1") == "too_large"


def test_a_pin_that_is_also_a_candidate_is_packed_once() -> None:
    result = pack([("a", 0.2, 10), ("b", 0.9, 10)], 100, pins=[("a", 0.0, 10)], min_score=0.5)
    assert packed(result) == ["a", "b"]
    assert {d.chunk_id: d.outcome for d in result.decisions} == {"a": "pinned", "b": "packed"}
    assert (result.log.offered, result.log.packed, result.log.pinned) == (2, 1, 1)
    assert result.used_tokens == 20


def test_a_candidate_with_a_pinned_text_is_a_duplicate() -> None:
    result = pack([("b", 0.9, "text")], 100, count=len, pins=[("a", 0.0, "text")])
    assert packed(result) == ["a"]
    assert reason(result, "b") == "duplicate"


def test_edges_keep_rank_1_in_its_place_for_every_number_of_blocks() -> None:
    for number in range(1, 12):
        result = pack(sizes(*[10] * number), 1000, order="edges")
        assert result.blocks[0].rank == 1
    assert [block.rank for block in pack(sizes(1, 1, 1, 1, 1), 9, order="edges").blocks] == [
        1, 3, 5, 4, 2,
    ]  # fmt: skip


def test_truncate_any_cuts_into_the_room_that_whole_blocks_leave() -> None:
    chunks = [
        PlainChunk("a", 0.9, 60),
        PlainChunk("b", 0.8, 90, boundaries=[(5, "paragraph", 15), (9, "paragraph", 35)]),
        PlainChunk("c", 0.7, 20),
    ]
    result = pack(chunks, 100, truncate="any")
    assert {b.chunk_id: b.tokens for b in result.blocks} == {"a": 60, "b": 15, "c": 20}
    assert packed(pack(chunks, 100)) == ["a", "c"]


def test_costs_of_nothing_are_taken_whole() -> None:
    assert packed(pack([("a", 1.0, 0), ("b", 0.5, 1)], 1, strategy="value_per_token")) == ["a", "b"]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (("a", 0.5), "chunks"),
        ({"id": "a", "score": 0.5, "size": 3}, "chunks"),
        (("a", 0.5, -1), "cost"),
        (PlainChunk("a", 0.5), "neither a cost nor a text"),
        (("a", 0.5, "text without a counter"), "neither a cost nor a text"),
    ],
)
def test_a_chunk_without_a_usable_cost_is_refused(chunk: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        pack([chunk], 100)


@pytest.mark.parametrize("option", ["as_of", "pin", "source", "ordinals"])
def test_options_that_need_a_store_are_refused(option: str) -> None:
    values: dict[str, Any] = {
        "as_of": "2026-01-01",
        "pin": ["a"],
        "source": ["*"],
        "ordinals": True,
    }
    with pytest.raises(RequestError, match=f"^{option}: needs a store"):
        pack(sizes(1), 10, **{option: values[option]})


def test_the_result_is_the_command_lines_json() -> None:
    data = json.loads(pack(sizes(10, 200), 100).model_dump_json())
    assert list(data) == [
        "request_id", "collection", "encoding", "exact", "slot", "used_tokens", "pinned_tokens",
        "text", "blocks", "decisions", "log", "warnings",
    ]  # fmt: skip
    assert data["blocks"] == [
        {"chunk_id": "c1", "document": "c1", "version": 1, "rank": 1, "score": 0.99, "tokens": 10,
         "heading_path": [], "page": None, "pinned": False, "truncated": None,
         "chars": 0}
    ]  # fmt: skip
    assert data["decisions"][1] == {
        "chunk_id": "c2", "rank": 2, "score": 0.98, "tokens": 200, "outcome": "skipped",
        "reason": "too_large", "forwarded_from": None,
    }  # fmt: skip
