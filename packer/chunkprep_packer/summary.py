"""A plan as the caller reads it: decisions, blocks, figures and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import orjson

from chunkprep_ingest.model import Boundary, BoundaryKind, ChunkRow
from chunkprep_packer.decide import Plan
from chunkprep_packer.pins import TEXT_ID
from chunkprep_packer.result import (
    FOR_SIZE,
    Block,
    Decision,
    Outcome,
    PackLog,
    Reason,
    Truncation,
)
from chunkprep_packer.screen import PINNED


def decisions(plan: Plan) -> list[Decision]:
    """One decision for every candidate, best-ranked first."""
    screened, taken, missed = plan.screened, plan.selection.taken, plan.selection.missed
    rows, reasons, ranks = screened.rows, screened.reasons, screened.ranks
    costs, forwarded = plan.costs, screened.forwarded
    found: list[Decision] = []
    for at, candidate in enumerate(plan.ranked):
        row = rows[at]
        tokens: int | None = costs[at]
        outcome: Outcome = "skipped"
        reason = reasons[at]
        if at in taken:
            tokens, cut = taken[at]
            outcome = "packed" if cut is None else "truncated"
        elif reason is None:
            reason = missed[at]
        elif reason == PINNED:
            outcome, reason = "pinned", None
        elif row is None:
            tokens = None
        found.append(
            Decision(
                candidate.chunk_id if row is None else row.chunk_id,
                ranks[at],
                candidate.score,
                tokens,
                outcome,
                cast(Reason, reason),
                forwarded.get(at),
            )
        )
    if plan.options.mmr is not None:
        found.sort(key=lambda decision: decision.rank)
    return found


def blocks(plan: Plan, sizes: Sequence[int] = ()) -> list[Block]:
    """Every block in final order; `sizes` are their lengths (characters), where rendered."""
    ranked, screened, taken = plan.ranked, plan.screened, plan.selection.taken
    shown = [
        _block(row, None, None, tokens)
        for row, tokens in zip(plan.pins, plan.pin_costs, strict=True)
    ]
    for at in plan.sequence:
        row = screened.rows[at]
        assert row is not None
        tokens, cut = taken[at]
        shown.append(_block(row, screened.ranks[at], ranked[at].score, tokens, cut))
    for block, size in zip(shown, sizes, strict=False):
        block.chars = size
    return shown


def _block(
    row: ChunkRow, rank: int | None, score: float | None, tokens: int, cut: Boundary | None = None
) -> Block:
    text = row.chunk_id == TEXT_ID
    return Block(
        None if text else row.chunk_id,
        row.document,
        None if text else row.version,
        rank,
        score,
        tokens,
        orjson.loads(row.heading_path),
        row.page,
        rank is None,
        None if cut is None else _truncation(row, cut),
    )


def _truncation(row: ChunkRow, cut: Boundary) -> Truncation:
    kind: BoundaryKind = cut.kind
    return Truncation(cut.offset, kind, len(row.text) - cut.offset)


def figures(plan: Plan) -> PackLog:
    """The figures of one pack."""
    taken, missed = plan.selection.taken, plan.selection.missed
    offered, packed = len(plan.ranked), len(taken)
    pinned = plan.screened.reasons.count(PINNED)
    truncated = sum(1 for one in taken.values() if one.cut is not None)
    used, slot = plan.used_tokens, plan.options.budget
    return PackLog(
        offered,
        packed,
        offered - packed - pinned,
        sum(1 for reason in missed.values() if reason in FOR_SIZE),
        used,
        slot,
        round(used / slot, 3),
        truncated > 0,
        plan.rank1,
        pinned,
        truncated,
    )


def warnings(plan: Plan) -> list[str]:
    """What the caller should know, each line starting with its code."""
    found: list[str] = []
    survivors, slot = plan.screened.survivors, plan.options.budget
    unknown = plan.screened.reasons.count("unknown_id")
    if unknown:
        found.append(
            f"ids_unknown: {unknown} of {len(plan.ranked)} candidate ids are not in collection "
            f"{plan.options.collection!r}; bring the index in step with `chunkprep changes`"
        )
    if plan.ranked and not survivors and PINNED not in plan.screened.reasons:
        found.append(
            f"nothing_survived: none of {len(plan.ranked)} candidates passed the filters; the "
            f"decisions say why"
        )
    if not survivors:
        return found
    room = slot - plan.pinned_tokens
    smallest = min(plan.costs[at] for at in survivors)
    if smallest > room:
        found.append(
            f"budget_below_smallest: the smallest candidate costs {smallest} tokens, the slot "
            f"leaves {room}; raise the budget, or split smaller"
        )
    if plan.rank1 == "too_large":
        found.append(
            f"rank1_too_large: the best eligible candidate costs {plan.costs[survivors[0]]} "
            f"tokens, the slot leaves {room}; raise the budget, lower the cap, or allow --truncate"
        )
    if plan.used_tokens > slot:
        found.append(
            f"floor_overrun: {plan.used_tokens - slot} tokens over the slot of {slot}, because "
            f"the best eligible candidate goes in whatever it costs (floor always)"
        )
    return found
