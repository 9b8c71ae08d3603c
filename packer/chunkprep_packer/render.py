"""From a plan to the text that the model sees: joins only, nothing is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_ingest.template import Template

PARTIAL_NOTE = "(More relevant passages exist than fit here: this selection is partial.)\n"
"""The closing line of a set that is partial: starts and ends so that its price adds."""


def render(
    blocks: Iterable[tuple[ChunkRow, Boundary | None]],
    templates: Mapping[str, Template],
    *,
    ordinals: bool = False,
    note: bool = False,
) -> str:
    """The blocks as one text. `templates` are by profile fingerprint."""
    parts: list[str] = []
    for number, (row, cut) in enumerate(blocks, start=1):
        template = templates[row.profile]
        header, body = row.header, row.text
        if ordinals:
            header = template.with_ordinal(header, number)
        if cut is not None:
            body = template.cut(body, cut.offset)
        parts += (header, body, template.delimiter)
    if note:
        parts.append(PARTIAL_NOTE)
    return "".join(parts)
