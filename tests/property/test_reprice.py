"""Prices in a further encoding against fresh counts of the rendered whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.nasty import nasty_document

from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.reprice import reprice
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32), cap=st.sampled_from((64, 512)))
def test_another_encoding_gets_exact_prices(template: str, seed: int, cap: int) -> None:
    first, second = tiktoken_counter("o200k_base"), tiktoken_counter("cl100k_base")
    made = TEMPLATES[template]
    profile = make_profile(second, made)
    chunks = split(
        nasty_document(seed), "A title", Policy(cap=cap), make_profile(first, made), first
    )
    for chunk in chunks:
        priced = reprice(chunk.header, chunk.text, chunk.boundaries, profile, second)
        whole = chunk.header + chunk.text + made.delimiter
        assert priced.block_tokens == second.count(whole)
        assert priced.header_tokens == second.count(chunk.header)
        for offset, kind, tokens in priced.boundaries:
            cut = chunk.header + made.cut(chunk.text, offset) + made.delimiter
            assert tokens == second.count(cut) < priced.block_tokens, kind


def test_the_same_encoding_gets_the_same_prices() -> None:
    counter = tiktoken_counter("o200k_base")
    profile = make_profile(counter, TEMPLATES["markdown"])
    for seed in range(20):
        for chunk in split(nasty_document(seed), "T", Policy(cap=128), profile, counter):
            priced = reprice(chunk.header, chunk.text, chunk.boundaries, profile, counter)
            assert priced.block_tokens == chunk.block_tokens
            assert priced.boundaries == chunk.boundaries
