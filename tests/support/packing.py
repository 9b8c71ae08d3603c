"""Rows for packing tests: real texts, priced by counting each block whole."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import ChunkRow
from chunkprep_ingest.template import TEMPLATES, Template
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer.unstored import UNSTORED

COUNTER: Counter = tiktoken_counter("o200k_base")
TEMPLATE: Template = TEMPLATES["markdown"]
PROFILE = "profile-1"
AT = 1_700_000_000_000_000
"""The moment at which tests pack."""


def sized_row(name: str, cost: int, **changes: object) -> ChunkRow:
    """A row of which only the cost matters; `changes` are fields of ChunkRow."""
    row = UNSTORED._replace(
        chunk_id=name,
        document=f"{name}.md",
        version=1,
        text=name,
        block_tokens=cost,
        truncatable=True,
        content_hash=name,
        policy="policy-1",
        profile=PROFILE,
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
