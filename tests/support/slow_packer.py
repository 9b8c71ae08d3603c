"""A packer written to be plainly right: no shared code, no cleverness, nothing kept in step.

It reads the same rows and a request's options, and says for each candidate what a packer must do.
Diversity has its own oracle (tests/unit/test_diversity.py).
"""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass, field
from typing import Any

from chunkprep_ingest.model import ChunkRow

KINDS = ["heading", "paragraph", "list_item", "table_row", "code_block", "sentence"]


@dataclass
class Fate:
    """What is to become of one candidate."""

    chunk_id: str
    outcome: str = "skipped"
    reason: str | None = None
    tokens: int | None = None
    offset: int | None = None
    row: ChunkRow | None = None


@dataclass
class Expected:
    """All candidates, best first, and the blocks in final order as (chunk id, offset)."""

    fates: list[Fate] = field(default_factory=list)
    blocks: list[tuple[str, int | None]] = field(default_factory=list)
    used: int = 0
    rank1: str = "none"


def why_not(row: ChunkRow, options: dict[str, Any], at: int) -> str | None:
    """The reason that keeps a row out whatever its size."""
    begun = row.effective_from is None or row.effective_from <= at
    if row.status == "draft" and (row.effective_to is None or at >= row.effective_to or not begun):
        return "draft"  # one with an end was in force until it was made a draft
    if row.effective_from is not None and row.effective_from > at:
        return "not_yet_valid"
    if row.effective_to is not None and row.effective_to <= at:
        return row.status if row.status in ("superseded", "withdrawn") else "expired"
    labels, tags = json.loads(row.access), json.loads(row.tags)
    if labels and not any(label in options.get("access", ()) for label in labels):
        return "filtered"
    globs = options.get("source", ())
    names = [name for name in (row.document, row.source) if name is not None]
    if globs and not any(fnmatch.fnmatchcase(n, g) for n in names for g in globs):
        return "filtered"
    if options.get("tag") and not set(tags) & set(options["tag"]):
        return "filtered"
    if options.get("min_authority") is not None and row.authority < options["min_authority"]:
        return "filtered"
    after = options.get("effective_after")
    moment = row.stored_at if row.effective_from is None else row.effective_from
    if after is not None and moment < after:
        return "filtered"
    return None


def near(one: ChunkRow, other: ChunkRow) -> bool:
    """At least nine tenths of the minima are equal, and the documents are two."""
    if one.document == other.document or not one.signature or not other.signature:
        return False
    lanes = [one.signature[at : at + 4] == other.signature[at : at + 4] for at in range(0, 128, 4)]
    return sum(lanes) / len(lanes) >= 0.9


def screen(fates: list[Fate], scores: list[float], pins: list[ChunkRow], o: dict[str, Any]) -> None:
    """Fill in every reason that has nothing to do with size."""
    kept: list[ChunkRow] = list(pins)
    for fate, score in zip(fates, scores, strict=True):
        row = fate.row
        if fate.reason is not None or row is None:
            continue
        if any(row.chunk_id == pin.chunk_id for pin in pins):
            fate.outcome = "pinned"
            continue
        if o.get("min_score") is not None and score < o["min_score"]:
            fate.reason = "below_min_score"
            continue
        mode = o.get("dedupe", "exact")
        if mode != "none" and any(row.content_hash == k.content_hash for k in kept):
            fate.reason = "duplicate"
        elif mode == "near" and any(near(row, k) for k in kept):
            fate.reason = "near_duplicate"
        else:
            kept.append(row)


def cut(row: ChunkRow, room: int, o: dict[str, Any], extra: int) -> tuple[int, int] | None:
    """(offset, tokens) of the deepest permitted cut that fits."""
    if not row.truncatable and not o.get("cut_any_kind"):
        return None
    permitted = KINDS[: KINDS.index(o.get("cut_at", "code_block")) + 1]
    fitting = [
        (offset, tokens + extra)
        for offset, kind, tokens in json.loads(row.boundaries)
        if kind in permitted and tokens + extra <= room
    ]
    return max(fitting) if fitting else None


def slow_pack(
    candidates: list[tuple[str, float]],
    rows: dict[str, ChunkRow],
    options: dict[str, Any],
    *,
    at: int,
    pins: list[ChunkRow] | None = None,
    successors: dict[str, ChunkRow] | None = None,
    ordinal_tokens: int = 0,
) -> Expected:
    """What becomes of each candidate. Pins are taken to fit."""
    pins = pins or []
    extra = ordinal_tokens if options.get("ordinals") else 0
    ranked = sorted(candidates, key=lambda c: (-c[1], c[0]))
    expected = Expected()
    met: list[str] = []
    for name, _ in ranked:
        fate = Fate(name, row=rows.get(name))
        if name in met:
            fate.reason = "duplicate_id"
        elif fate.row is None:
            fate.reason = "unknown_id"
        else:
            fate.reason = why_not(fate.row, options, at)
            if fate.reason == "superseded" and successors and name in successors:
                fate.row = successors[name]
                fate.chunk_id = fate.row.chunk_id
                if fate.chunk_id in met:
                    fate.reason = "duplicate_id"
                else:
                    fate.reason = why_not(fate.row, options, at)
                met.append(fate.chunk_id)
        met.append(name)
        if fate.row is not None:
            fate.tokens = fate.row.block_tokens + extra
        expected.fates.append(fate)
    screen(expected.fates, [score for _, score in ranked], pins, options)
    slot = options["budget"] - sum(pin.block_tokens + extra for pin in pins)
    alive = [
        (n, fate, ranked[n][1])
        for n, fate in enumerate(expected.fates)
        if fate.reason is None and fate.outcome != "pinned"
    ]
    _fill(alive, slot, options, extra)
    packed = [(n, fate) for n, fate, _ in alive if fate.outcome in ("packed", "truncated")]
    expected.used = sum(pin.block_tokens + extra for pin in pins)
    expected.used += sum(fate.tokens or 0 for _, fate in packed)
    expected.blocks = [(pin.chunk_id, None) for pin in pins]
    expected.blocks += [(f.chunk_id, f.offset) for f in _ordered([f for _, f in packed], options)]
    if alive:
        first = alive[0][1]
        expected.rank1 = first.outcome if first.reason is None else first.reason
    return expected


def _fill(alive: list[tuple[int, Fate, float]], slot: int, o: dict[str, Any], extra: int) -> None:
    def left() -> int:
        packed = [f for _, f, _ in alive if f.outcome in ("packed", "truncated")]
        return slot - sum(f.tokens or 0 for f in packed)

    def place_cut(fate: Fate, row: ChunkRow) -> bool:
        found = cut(row, left(), o, extra)
        if found is None:
            return False
        fate.offset, fate.tokens = found
        fate.outcome, fate.reason = "truncated", None
        return True

    order = list(alive)
    if o.get("strategy") == "value_per_token":
        lowest = min([0.0, *(score for _, _, score in alive)])
        order.sort(key=lambda one: (-(one[2] - lowest) / max(one[1].tokens or 0, 1), one[0]))
    stopped = False
    mode = o.get("floor", "fit")
    if alive and mode != "off":
        first = alive[0]
        order = [first, *(one for one in order if one is not first)]
    for number, (_, fate, _) in enumerate(order):
        row = fate.row
        assert row is not None
        assert fate.tokens is not None
        is_floor = number == 0 and mode != "off"
        if stopped:
            fate.reason = "not_reached"
        elif fate.tokens <= left() or (is_floor and mode == "always"):
            fate.outcome = "packed"
        elif is_floor and o.get("truncate", "floor") != "never" and place_cut(fate, row):
            pass
        else:
            fate.reason = "too_large" if fate.tokens > slot else "no_room"
            stopped = o.get("strategy") == "stop_at_first_miss"
    if o.get("truncate") == "any":
        for _, fate, _ in alive:
            if fate.reason in ("too_large", "no_room") and fate.row is not None:
                place_cut(fate, fate.row)


def _ordered(packed: list[Fate], o: dict[str, Any]) -> list[Fate]:
    mode = o.get("order", "rank")
    rows = [fate.row for fate in packed if fate.row is not None]
    if mode == "best_last":
        return list(reversed(packed))
    if mode == "edges":
        front: list[Fate] = []
        back: list[Fate] = []
        for number, fate in enumerate(packed):
            (front if number % 2 == 0 else back).append(fate)
        return front + list(reversed(back))
    if mode == "document":
        documents: list[str] = []
        for row in rows:
            if row.document not in documents:
                documents.append(row.document)
        return sorted(
            packed,
            key=lambda f: (documents.index(f.row.document), f.row.ordinal) if f.row else (0, 0),
        )
    if mode == "chronological":
        return sorted(packed, key=_time)
    return packed


def _time(fate: Fate) -> tuple[int, str, int]:
    row = fate.row
    assert row is not None
    moment = row.stored_at if row.effective_from is None else row.effective_from
    return moment, row.document, row.ordinal
