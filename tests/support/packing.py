"""Rows for packing tests: real texts, priced by counting each block whole."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import ChunkRow
from chunkprep_ingest.template import TEMPLATES, Template
from chunkprep_ingest.tokens import tiktoken_counter

COUNTER: Counter = tiktoken_counter("o200k_base")
TEMPLATE: Template = TEMPLATES["markdown"]
PROFILE = "profile-1"
AT = 1_000_000
"""The moment at which tests pack."""


def sized_row(name: str, cost: int, **changes: object) -> ChunkRow:
    """A row of which only the cost matters; `changes` are fields of ChunkRow."""
    row = ChunkRow(
        chunk_id=name,
        document=f"{name}.md",
        version=1,
        ordinal=0,
        text=name,
        header="",
        block_tokens=cost,
        header_tokens=0,
        delimiter_tokens=0,
        boundaries="[]",
        kind="prose",
        truncatable=True,
        heading_path="[]",
        page=None,
        status="active",
        superseded_by=None,
        effective_from=None,
        effective_to=None,
        authority=0,
        access="[]",
        source=None,
        tags="[]",
        content_hash=name,
        signature=b"",
        policy="policy-1",
        profile=PROFILE,
        stored_at=0,
    )
    return row._replace(**changes)  # type: ignore[arg-type]


def text_row(
    name: str,
    text: str,
    cuts: Sequence[tuple[int, str]] = (),
    *,
    template: Template = TEMPLATE,
    counter: Counter = COUNTER,
    **changes: object,
) -> ChunkRow:
    """A row with this text; `cuts` are (offset, kind) of its boundaries, priced by counting."""
    header = template.header(name)

    def cost(body: str) -> int:
        return counter.count(header + body + template.delimiter)

    whole = cost(text)
    priced = [(offset, kind, cost(template.cut(text, offset))) for offset, kind in cuts]
    return sized_row(
        name,
        whole,
        text=text,
        header=header,
        header_tokens=counter.count(header),
        delimiter_tokens=counter.count(template.delimiter),
        boundaries=json.dumps([entry for entry in priced if entry[2] < whole]),
        content_hash=text_hash(text),
        **changes,
    )
