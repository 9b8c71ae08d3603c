"""Slot arithmetic: every term, counts or texts, and errors that name the numbers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkprep_ingest.errors import RequestError, SlotError
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer import slot, slot_terms

TOKENS = st.integers(0, 5_000)


def test_the_contracts_example() -> None:
    left = slot(
        window=128_000, reserved_output=4_000, system=1_200, history=3_000, question=60, cap=6_000
    )
    assert left == 6_000


@given(st.integers(0, 20_000), st.lists(TOKENS, min_size=8, max_size=8), st.none() | TOKENS)
def test_every_term_is_subtracted(window: int, terms: list[int], cap: int | None) -> None:
    names = [
        "reserved_output", "system", "tools", "history", "question", "pinned",
        "formatting_overhead", "margin",
    ]  # fmt: skip
    given_terms: dict[str, Any] = dict(zip(names, terms, strict=True))
    expected = min(window - sum(terms), window if cap is None else cap)
    if expected >= 1:
        assert slot(window=window, cap=cap, **given_terms) == expected
        return
    with pytest.raises(SlotError) as caught:
        slot(window=window, cap=cap, **given_terms)
    for name, tokens in given_terms.items():
        assert f"{name} {tokens}" in str(caught.value)


@pytest.mark.parametrize(
    ("terms", "shown"),
    [
        ({"window": 8_192, "reserved_output": 8_192}, ["window 8192", "reserved_output 8192"]),
        ({"window": 8_192, "history": [9_000, 100]}, ["history 9100", "leaves -908"]),
        ({"window": 8_192, "reserved_output": 10_000}, ["reserved_output 10000", "-1808"]),
        ({"window": 10, "cap": 0}, ["cap 0"]),
        *(
            ({"window": 50, name: "word " * 60}, [f"{name} 6"])
            for name in ("system", "tools", "history", "question", "pinned")
        ),
    ],
)
def test_no_room_is_an_error_that_names_the_numbers(
    terms: dict[str, Any], shown: list[str]
) -> None:
    with pytest.raises(SlotError) as caught:
        slot(**terms)
    for text in shown:
        assert text in str(caught.value)


def test_texts_are_counted_with_the_encoding_given() -> None:
    text = "Answer from the sources only. <|endoftext|> 食べ物"
    for name in ("o200k_base", "cl100k_base"):
        counter = tiktoken_counter(name)
        terms = slot_terms(window=1_000, system=text, history=[text, 5], counter=counter)
        assert terms.system == counter.count(text)
        assert terms.history == counter.count(text) + 5


def test_chat_framing_is_added_for_each_message() -> None:
    terms = slot_terms(
        window=1_000, system="Be brief.", history=["Hi", "Hello"], question=7, tools=30,
        per_message=4, per_reply=3,
    )  # fmt: skip
    assert terms.framing == 4 * 4 + 3
    assert slot_terms(window=1_000, per_message=4).framing == 0


@pytest.mark.parametrize("value", [-1, 1.5, True, None])
@pytest.mark.parametrize("name", ["window", "margin", "system", "cap", "per_message"])
def test_a_term_that_is_no_number_of_tokens_is_refused(name: str, value: Any) -> None:
    if name == "cap" and value is None:
        return
    terms = {"window": 1_000, name: value}
    with pytest.raises((RequestError, TypeError)):
        slot(**terms)


@pytest.mark.parametrize("system", [None, 3.5, [1, None], "a\ud800"])
def test_what_is_neither_tokens_nor_a_text_is_refused(system: Any) -> None:
    with pytest.raises(RequestError, match=r"^system: "):
        slot(window=100, system=system)
