"""Filling with integers: orders, limits and reasons."""

from __future__ import annotations

from chunkprep_packer.fill import fill, fill_order


def test_value_per_token_of_negative_scores_counts_from_the_lowest() -> None:
    scores = [3.0, 1.0, -1.0, -5.0]
    costs = [800, 100, 100, 10]
    order = fill_order("value_per_token", range(4), costs, scores)
    assert list(order) == [1, 2, 0, 3]  # (1+5)/100, (-1+5)/100, (3+5)/800, 0


def test_ties_go_to_the_better_ranked() -> None:
    assert list(fill_order("value_per_token", range(3), [10, 20, 10], [1.0, 2.0, 1.0])) == [0, 1, 2]


def test_too_large_is_what_an_empty_slot_could_not_hold() -> None:
    filled = fill([0, 1, 2, 3], [60, 100, 101, 40], 100, whole=100)
    assert (filled.packed, filled.missed, filled.room) == (
        [0, 3],
        {1: "no_room", 2: "too_large"},
        0,
    )


def test_what_has_room_but_no_number_is_too_many() -> None:
    filled = fill([0, 1, 2], [1, 1, 500], 100, whole=100, most=1)
    assert filled.missed == {1: "too_many", 2: "too_large"}
