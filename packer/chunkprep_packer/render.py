"""From a plan to the text that the model sees: joins only, nothing is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_ingest.template import Template
from chunkprep_packer.pins import TEXT_ID

PARTIAL_NOTE = "(More relevant passages exist than fit here: this selection is partial.)\n"
"""The closing line of a set that is partial: starts and ends so that its price adds."""


def render(
    blocks: Iterable[tuple[ChunkRow, Boundary | None]],
    templates: Mapping[str, Template],
    *,
    ordinals: bool = False,
    note: bool = False,
    stored_only: bool = False,
) -> str:
    """The blocks as one text. `templates` are by profile fingerprint.

    `stored_only` leaves out pinned texts, which are not in the store (their numbers stay).
    """
    parts = block_texts(blocks, templates, ordinals=ordinals, stored_only=stored_only)
    return joined(parts, note=note)


def joined(parts: Sequence[str], *, note: bool = False) -> str:
    """Rendered blocks as one text, with the closing line where `note`."""
    return "".join(parts) + (PARTIAL_NOTE if note else "")


def block_texts(
    blocks: Iterable[tuple[ChunkRow, Boundary | None]],
    templates: Mapping[str, Template],
    *,
    ordinals: bool = False,
    stored_only: bool = False,
) -> list[str]:
    """The text of each block, "" for one that `stored_only` leaves out."""
    parts: list[str] = []
    for number, (row, cut) in enumerate(blocks, start=1):
        if stored_only and row.chunk_id == TEXT_ID:
            parts.append("")
            continue
        template = templates[row.profile]
        header, body = row.header, row.text
        if ordinals:
            header = template.with_ordinal(header, number)
        if cut is not None:
            body = template.cut(body, cut.offset)
        parts.append(f"{header}{body}{template.delimiter}")
    return parts
