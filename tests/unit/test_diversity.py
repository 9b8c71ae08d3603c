"""Maximal marginal relevance, against a plain version of its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkprep_ingest.errors import RequestError
from chunkprep_packer import PlainChunk, pack
from chunkprep_packer.diversity import diversify, from_text, measure, to_text

AXES = st.sampled_from(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0, 0, 0), (-1, 0, 0)]
)


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def slow_mmr(
    vectors: list[Any],
    scores: list[float],
    query: Any,
    balance: float,
    most: float,
    seeds: list[int],
) -> tuple[list[int], list[int]]:
    """The definition, one candidate at a time."""
    left = [at for at in range(len(vectors)) if at not in seeds]
    low = min((scores[at] for at in left), default=0.0)
    high = max((scores[at] for at in left), default=0.0)
    relevance = {
        at: cosine(vectors[at], query) if query else (scores[at] - low) / ((high - low) or 1.0)
        for at in left
    }
    near = list(seeds)
    chosen: list[int] = []
    while True:
        open_ones = [
            at
            for at in left
            if at not in chosen and all(cosine(vectors[at], vectors[n]) < most - 1e-6 for n in near)
        ]
        if not open_ones:
            return chosen, [at for at in left if at not in chosen]

        def worth(at: int) -> float:
            closest = max((cosine(vectors[at], vectors[n]) for n in near), default=0.0)
            return round(balance * relevance[at] - (1 - balance) * closest, 6)

        best = max(open_ones, key=lambda at: (worth(at), -at))
        chosen.append(best)
        near.append(best)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(AXES, st.integers(0, 8)), min_size=1, max_size=8),
    st.none() | AXES,
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from([0.95, 0.6, 1.0]),
    st.data(),
)
def test_it_follows_the_definition(
    candidates: list[Any], query: Any, balance: float, most: float, data: st.DataObject
) -> None:
    vectors = [vector for vector, _ in candidates]
    scores = sorted((score / 8 for _, score in candidates), reverse=True)
    seeds = sorted(data.draw(st.sets(st.integers(0, len(vectors) - 1), max_size=2)))
    survivors = [at for at in range(len(vectors)) if at not in seeds]
    diverse = diversify(
        survivors,
        [scores[at] for at in survivors],
        measure(vectors, query),
        balance=balance,
        max_similarity=most,
        seeds=seeds,
    )
    assert tuple(diverse) == slow_mmr(vectors, scores, query, balance, most, seeds)


def test_the_log_keeps_similarities_as_they_were() -> None:
    dice = np.random.default_rng(1)
    found = measure(dice.normal(size=(7, 20)).tolist(), dice.normal(size=20).tolist())
    assert found.query is not None
    again = from_text(to_text(found), 7)
    assert again.query is not None
    assert np.array_equal(found.pairs, again.pairs)
    assert np.array_equal(found.query, again.query)


def test_the_length_of_a_vector_does_not_count() -> None:
    chunks = [
        PlainChunk("a", 0.9, 1, vector=[1e300, 0]),
        PlainChunk("b", 0.8, 1, vector=[1e-300, 0]),
    ]
    assert len(pack(chunks, 10, mmr=0.7).blocks) == 1


def test_vectors_may_be_arrays() -> None:
    vector: Any = np.array([1.0, 0.0])
    chunks = [PlainChunk(name, 0.9, 1, vector=vector) for name in "ab"]
    assert len(pack(chunks, 10, mmr=0.7).blocks) == 1


def test_a_retriever_that_found_nothing_asks_for_no_diversity() -> None:
    assert pack([], 100, mmr=0.5).text == ""
    assert pack([], 100, mmr=0.5, query_vector=[1.0, 0.0]).text == ""


def test_ranks_move_with_the_candidates() -> None:
    vectors: dict[str, list[float]] = {"a": [1, 0], "b": [1, 0.5], "c": [0, 1], "d": [1, 0.01]}
    chunks = [
        PlainChunk(name, 0.9 - at / 10, 10, vector=vectors[name]) for at, name in enumerate("abdc")
    ]
    result = pack(chunks, 100, mmr=0.2)
    assert [(d.chunk_id, d.rank, d.reason) for d in result.decisions] == [
        ("a", 1, None), ("c", 2, None), ("b", 3, None), ("d", 4, "not_diverse"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([None, [1.0]], {"mmr": 0.5}, r"candidates\[0\]\.vector: mmr needs the vector of every"),
        ([[], []], {"mmr": 0.5}, r"candidates\[0\]\.vector: mmr needs the vector of every"),
        ([[1.0], [1.0, 2.0]], {"mmr": 0.5}, r"candidates\[1\]\.vector: 2 numbers, where"),
        ([[1.0], [1.0, 2.0]], {}, r"candidates\[1\]\.vector: 2 numbers, where"),
        ([[1.0], [2.0]], {"mmr": 0.5, "query_vector": [1.0, 2.0]}, "numbers, where query_vector"),
        ([[1.0], [2.0]], {"mmr": 1.5}, "mmr: must be at most 1"),
        ([[1.0], [2.0]], {"mmr": -0.1}, "mmr: must be at least 0"),
        ([[1.0], [2.0]], {"mmr": math.nan}, "mmr: must be a finite number"),
        ([[math.nan], [2.0]], {"mmr": 0.5}, "candidates.vector: holds a value that is not finite"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    vectors: list[Any], options: dict[str, Any], message: str
) -> None:
    chunks = [PlainChunk(f"c{n}", 0.5, 1, vector=vector) for n, vector in enumerate(vectors)]
    with pytest.raises(RequestError, match=message):
        pack(chunks, 10, **options)
