"""Laws 1, 2, 3 and 5 on documents that break splitters, against fresh counts."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.laws import broken_laws
from tests.support.nasty import nasty_document

from chunkprep_ingest.errors import IndivisibleError, PolicyError
from chunkprep_ingest.model import Chunk, Element, ParsedDocument
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter

CAPS = (16, 32, 128, 512)
TITLE = "A title"


@functools.cache
def profile(encoding: str, template: str) -> Profile:
    return make_profile(tiktoken_counter(encoding), TEMPLATES[template])


def chunks_of(
    parsed: ParsedDocument, encoding: str, template: str, cap: int
) -> tuple[Chunk, ...] | None:
    """The chunks, or None where the cap is honestly too small."""
    made = profile(encoding, template)
    try:
        return split(parsed, TITLE, Policy(cap=cap), made, tiktoken_counter(encoding))
    except (PolicyError, IndivisibleError):
        if cap > 32:
            raise
        return None


@pytest.mark.parametrize("encoding", OFFLINE_ENCODINGS)
@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32), cap=st.sampled_from(CAPS))
def test_nasty_documents_break_no_law(encoding: str, template: str, seed: int, cap: int) -> None:
    parsed = nasty_document(seed)
    chunks = chunks_of(parsed, encoding, template, cap)
    if chunks is not None:
        counter = tiktoken_counter(encoding)
        assert broken_laws(parsed.text, chunks, TEMPLATES[template], counter, cap) == []


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400),
    cap=st.sampled_from((32, 128)),
    encoding=st.sampled_from(OFFLINE_ENCODINGS),
)
def test_any_unicode_paragraph_breaks_no_law(text: str, cap: int, encoding: str) -> None:
    body = "\n".join(line for line in text.split("\n") if line.strip()).strip("\n").rstrip()
    if not body.strip():
        return
    parsed = ParsedDocument(body, (Element("paragraph", 0, len(body)),), "x/1")
    chunks = chunks_of(parsed, encoding, "markdown", cap)
    if chunks is not None:
        counter = tiktoken_counter(encoding)
        assert broken_laws(body, chunks, TEMPLATES["markdown"], counter, cap) == []


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1 << 32), order=st.randoms(use_true_random=False))
def test_blocks_add_up_in_any_order_with_any_ordinals(seed: int, order: object) -> None:
    encoding, template = "o200k_base", TEMPLATES["markdown"]
    chunks = chunks_of(nasty_document(seed), encoding, "markdown", 128)
    assert chunks is not None
    blocks = [(c.header, c.text + template.delimiter, c.block_tokens) for c in chunks]
    order.shuffle(blocks)  # type: ignore[attr-defined]
    counter = tiktoken_counter(encoding)
    text = "".join(header + rest for header, rest, _ in blocks)
    assert counter.count(text) == sum(cost for *_, cost in blocks)
    numbered = [
        template.with_ordinal(header, 999 - n) + rest for n, (header, rest, _) in enumerate(blocks)
    ]
    extra = profile(encoding, "markdown").ordinal_tokens
    assert extra is not None
    assert counter.count("".join(numbered)) == sum(cost + extra for *_, cost in blocks)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1 << 32), cap=st.sampled_from((64, 256)))
def test_the_same_document_gives_the_same_chunks(seed: int, cap: int) -> None:
    first = chunks_of(nasty_document(seed), "o200k_base", "xml", cap)
    assert first == chunks_of(nasty_document(seed), "o200k_base", "xml", cap)
