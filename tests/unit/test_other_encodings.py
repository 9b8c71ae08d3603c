"""Encodings whose patterns we have not proven: exact where they add up, bounded elsewhere."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.support.laws import broken_laws
from tests.support.nasty import WORDS, nasty_document
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import broken_seam, make_profile
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import counter_for

TEXTS = [" ".join(WORDS[n % len(WORDS)] for n in range(k, k + 40)) + ".\n\n" for k in range(30)]


def byte_level(pattern: str | None) -> Tokenizer:
    """A small byte-pair tokenizer as Llama 3, Qwen and GPT-2 have them."""
    tokenizer = Tokenizer(models.BPE())
    parts: list[pre_tokenizers.PreTokenizer] = []
    if pattern:
        parts.append(pre_tokenizers.Split(Regex(pattern), "isolated"))
    parts.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def metaspace() -> Tokenizer:
    """A small one in the manner of SentencePiece (Llama 2, Mistral): no white-space seams."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=["<unk>", *(f"<0x{n:02X}>" for n in range(256))],
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture(params=["llama3", "gpt2", "metaspace"])
def counter(request: pytest.FixtureRequest, tmp_path: Path) -> RunningCounter:
    made = {
        "llama3": lambda: byte_level(LLAMA_3),
        "gpt2": lambda: byte_level(None),
        "metaspace": metaspace,
    }[request.param]()
    path = tmp_path / f"{request.param}.json"
    made.save(str(path))
    return counter_for(str(path))


def test_the_check_tells_which_encodings_have_seams(counter: RunningCounter) -> None:
    assert (broken_seam(counter) is None) == ("llama3" in counter.encoding)


def test_blocks_keep_the_cap_and_sums_are_never_below_the_count(counter: RunningCounter) -> None:
    template = TEMPLATES["markdown"]
    profile = make_profile(counter, template)
    blocks: list[tuple[str, int]] = []
    for seed in range(12):
        parsed = nasty_document(seed)
        chunks = split(parsed, "A title", Policy(cap=256), profile, counter)
        faults = broken_laws(parsed.text, chunks, template, counter, 256, margin=profile.margin)
        assert faults == []
        blocks += [(c.header + c.text + template.delimiter, c.block_tokens) for c in chunks]
    for (a, cost_a), (b, cost_b) in pairwise(blocks):
        assert counter.count(a + b) <= cost_a + cost_b
    whole = counter.count("".join(text for text, _ in blocks))
    total = sum(cost for _, cost in blocks)
    assert whole == total if profile.exact else whole <= total


def test_llama_3_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "llama3.json"
    byte_level(LLAMA_3).save(str(path))
    profile = make_profile(counter_for(str(path)), TEMPLATES["xml"])
    assert (profile.exact, profile.seams, profile.margin) == (True, True, 0)
