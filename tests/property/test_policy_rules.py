"""Every setting of a policy keeps the laws, and does what it says, on documents that break
splitters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_splitting_laws import TITLE, profile
from tests.support.laws import broken_laws
from tests.support.nasty import nasty_document

from chunkprep_ingest.errors import IndivisibleError, PolicyError
from chunkprep_ingest.model import Chunk, Element, ParsedDocument
from chunkprep_ingest.policy import HEADER_FIELDS, SHARINGS, WIDE_ROWS, Policy
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter

DATE = "2026-03-01"

policies = st.builds(
    Policy,
    cap=st.sampled_from((40, 64, 128, 512)),
    span_sections=st.booleans(),
    header_fields=st.lists(st.sampled_from(HEADER_FIELDS), max_size=2),
    tables=st.sampled_from(SHARINGS),
    code=st.sampled_from(SHARINGS),
    repeat_table_header=st.booleans(),
    reopen_code_fences=st.booleans(),
    wide_rows=st.sampled_from(WIDE_ROWS),
)


def paged(parsed: ParsedDocument) -> ParsedDocument:
    """The document with two elements to a page."""
    elements = tuple(e._replace(page=1 + n // 2) for n, e in enumerate(parsed.elements))
    return dataclasses.replace(parsed, elements=elements)


@settings(max_examples=250, deadline=None)
@given(
    seed=st.integers(0, 1 << 32),
    policy=policies,
    encoding=st.sampled_from(OFFLINE_ENCODINGS),
    template=st.sampled_from(sorted(TEMPLATES)),
)
def test_no_setting_breaks_a_law(seed: int, policy: Policy, encoding: str, template: str) -> None:
    parsed, counter = paged(nasty_document(seed)), tiktoken_counter(encoding)
    try:
        chunks = split(parsed, TITLE, policy, profile(encoding, template), counter, DATE)
    except (PolicyError, IndivisibleError):
        assert policy.cap == 40
        return
    assert broken_laws(parsed.text, chunks, TEMPLATES[template], counter, policy.cap) == []
    assert not mingled(parsed.elements, chunks, policy)
    if not policy.repeat_table_header and not policy.reopen_code_fences:
        assert policy.wide_rows == "records" or not any(chunk.additions for chunk in chunks)
    if policy.wide_rows == "cells":
        assert all(chunk.rendering == "verbatim" for chunk in chunks)
    for chunk in chunks:
        assert ("page" in policy.header_fields) or "page" not in chunk.header
        assert ("date" in policy.header_fields) or DATE not in chunk.header


def mingled(elements: Sequence[Element], chunks: Sequence[Chunk], policy: Policy) -> list[str]:
    """Elements that have chunks of their own and share one with something but their headings."""
    found = []
    for chunk in chunks:
        inside = [e for e in elements if e.start < chunk.end and chunk.start < e.end]
        apart = [e for e in inside if e.kind in policy.alone]
        others = [e for e in inside if e.kind != "title"]
        if apart and len(others) > 1:
            found.append(f"chunk {chunk.ordinal}: {[e.kind for e in inside]}")
    return found
