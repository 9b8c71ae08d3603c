"""What a caller gets: the text, its blocks, one decision for every candidate, and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from chunkprep_ingest.model import BoundaryKind

Outcome = Literal["packed", "truncated", "pinned", "skipped"]
Rank1 = Literal["packed", "truncated", "too_large", "no_room", "none"]
Reason = Literal[
    "superseded",
    "withdrawn",
    "draft",
    "not_yet_valid",
    "expired",
    "filtered",
    "below_min_score",
    "unknown_id",
    "duplicate_id",
    "duplicate",
    "near_duplicate",
    "not_diverse",
    "too_large",
    "no_room",
    "not_reached",
    "too_many",
]
"""Why a candidate was skipped."""

FOR_SIZE: frozenset[str] = frozenset({"too_large", "no_room"})
"""Reasons that a larger budget would have changed."""

LEFT_OUT: frozenset[str] = FOR_SIZE | {"not_reached", "too_many"}
"""Reasons that leave a set partial: the candidate was wanted, and is not there."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """Where a block was cut: after `offset` characters of its chunk's text, at what kind."""

    offset: int
    kind: BoundaryKind
    omitted_chars: int


@dataclass  # no slots: orjson writes it five times as fast
class Block:
    """One block of the context, in final order. `tokens` is what it costs there, `chars` how many
    characters of the pack's `text` it is: blocks stand there one after the other.

    A pinned block has neither rank nor score; a pinned text neither chunk id nor version.
    """

    chunk_id: str | None
    document: str
    version: int | None
    rank: int | None
    score: float | None
    tokens: int
    heading_path: list[str]
    page: int | None
    pinned: bool
    truncated: Truncation | None
    chars: int = 0


@dataclass  # no slots: orjson writes it five times as fast
class Decision:
    """What was done with one candidate, and why.

    `rank` counts from 1, best first. `tokens` is what its block costs: as packed, or whole where
    it was skipped (None where the chunk is unknown). `reason` is None unless it was skipped.
    `forwarded_from` is the superseded chunk that the caller named.
    """

    chunk_id: str
    rank: int
    score: float
    tokens: int | None
    outcome: Outcome
    reason: Reason | None
    forwarded_from: str | None


@dataclass(frozen=True, slots=True)
class PackLog:
    """The figures of one pack. `fill` is used_tokens / slot."""

    offered: int
    packed: int
    skipped: int
    skipped_for_size: int
    used_tokens: int
    slot: int
    fill: float
    truncation_fired: bool
    rank1: Rank1
    pinned: int = 0
    truncated: int = 0


class PackResult(BaseModel):
    """A packed context. `text` costs `used_tokens` in `encoding`: exactly, or at most that where
    the encoding's counts do not add up (`exact` is false).
    """

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    request_id: str
    """The pack's name in the log."""
    collection: str
    encoding: str
    """The encoding that tokens are counted in."""
    exact: bool = True
    """Whether counts add up to the token in this encoding."""
    slot: int
    """The budget, in tokens."""
    used_tokens: int
    """What the text costs."""
    pinned_tokens: int
    """What of that is pinned."""
    text: str
    """The context: the blocks one after the other."""
    blocks: list[Block]
    """The blocks in final order."""
    decisions: list[Decision]
    """One for each candidate, best rank first."""
    log: PackLog
    """The figures of the pack."""
    warnings: list[str]
    """Each starts with a code: rank1_too_large, floor_overrun, nothing_survived,
    budget_below_smallest, ids_unknown, log_dropped, request_id_taken."""
