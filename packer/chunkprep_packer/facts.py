"""What the store said about one request: all that deciding needs besides the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chunkprep_ingest.model import ChunkRow
from chunkprep_packer.diversity import Cosines
from chunkprep_packer.eligibility import Judge


@dataclass(frozen=True, slots=True)
class Facts:
    """Rows by chunk id, and what may be done with them.

    `successors` maps a superseded chunk's id to the row in force that it is forwarded to. `pins`
    are rendered first, in order. `ordinal_tokens` by profile is what a number in a header costs,
    `note_tokens` what the closing line costs. `cosines` are those of the ranked candidates, where
    diversity is asked for.
    """

    rows: Mapping[str, ChunkRow]
    judge: Judge
    successors: Mapping[str, ChunkRow] = field(default_factory=dict)
    pins: Sequence[ChunkRow] = ()
    ordinal_tokens: Mapping[str, int] = field(default_factory=dict)
    note_tokens: int = 0
    cosines: Cosines | None = None
