"""The pack page: a logged request, its slot as a bar, and the same candidates another way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from chunkprep_ingest.errors import NotFoundError, RequestError
from chunkprep_ingest.lifecycle import iso
from chunkprep_packer import summary
from chunkprep_packer.caller import caller_in
from chunkprep_packer.compare import compare
from chunkprep_packer.decide import Plan
from chunkprep_packer.logged import LoggedPack, LoggedRequest
from chunkprep_packer.pages.pack_blocks import block_list, document_facts_of
from chunkprep_packer.replay import Replayer
from chunkprep_store import PackRecord, Store

CONTROLS = ("budget", "strategy", "mmr", "order")
"""The options that the page lets its reader change."""

CHOICES = {
    "strategy": ("ranked", "stop_at_first_miss", "value_per_token"),
    "order": ("rank", "best_last", "edges", "document", "chronological"),
}

SMALL = 100
"""Blocks of fewer tokens count as small in the comparison."""


def wanted_changes(query: Mapping[str, str], request: LoggedRequest) -> dict[str, object]:
    """The options in a form that differ from the logged ones. Raises RequestError."""
    asked: dict[str, object] = {}
    for name in CONTROLS:
        given = query.get(name)
        if given is not None:
            asked[name] = _parsed(name, given.strip())
    return {name: value for name, value in asked.items() if value != getattr(request, name)}


def _parsed(name: str, given: str) -> object:
    try:
        if name == "budget":
            return int(given)
        if name == "mmr":
            return float(given) if given else None
    except ValueError:
        raise RequestError(f"{name}: {given[:40]!r} is not a number", name) from None
    return given


def pack_facts(
    store: Store, collection: str, request_id: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """The logged pack, and the replay that `query` asks for. Raises NotFoundError, RequestError."""
    record = None
    if request_id.isprintable():  # as every name is; databases do not hold all that is not
        record = next(iter(store.packs(collection, request_id=request_id)), None)
    if record is None:
        raise NotFoundError(f"no pack {request_id!r} is logged in collection {collection!r}")
    logged = LoggedPack.of(record)
    changes = wanted_changes(query, logged.request)
    replayer = Replayer(store, collection)
    replayed = next(iter(replayer.replay([record], changes)))
    chosen = {name: getattr(logged.request, name) for name in CONTROLS}
    facts: dict[str, Any] = {
        "collection": collection,
        "request_id": request_id,
        "at": iso(record.at),
        "as_of": iso(record.as_of),
        "encoding": record.encoding,
        **caller_in(record.request_json).facts(),
        "warnings": list(record.warnings),
        "options": chosen,
        "chosen": {**chosen, **changes},
        "choices": {name: list(values) for name, values in CHOICES.items()},
        "changed": bool(changes),
        "problem": replayed.detail,
        "logged": _as_logged(record, logged),
        "replay": None,
        "comparison": None,
        "texts": None,
    }
    before, after = replayed.before, replayed.after
    if before is not None and after is not None:
        names = {d["chunk_id"]: d for d in _decisions(after)}
        facts["texts"] = _texts(replayer, after)
        if changes:
            facts["replay"] = _as_planned(after)
            facts["comparison"] = _comparison(request_id, before, after, names)
    documents = _documents(store, collection, record, facts)
    for picture in _pictures(facts):
        picture["blocks"] = block_list(picture["blocks"], documents)
    facts["documents"] = documents
    return facts


def _as_logged(record: PackRecord, logged: LoggedPack) -> dict[str, Any]:
    result = logged.result
    return _picture(
        record.slot,
        record.used_tokens,
        result["blocks"],
        result["decisions"],
        floored=logged.request.floor != "off",
    )


def _as_planned(plan: Plan) -> dict[str, Any]:
    blocks = [asdict(block) for block in summary.blocks(plan)]
    floored = plan.options.floor != "off"
    return _picture(
        plan.options.budget, plan.used_tokens, blocks, _decisions(plan), floored=floored
    )


def _decisions(plan: Plan) -> list[dict[str, Any]]:
    return [asdict(decision) for decision in summary.decisions(plan)]


def _picture(
    slot: int,
    used: int,
    blocks: Sequence[Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]],
    *,
    floored: bool,
) -> dict[str, Any]:
    parts = segments(slot, used, blocks, floored=floored)
    return {
        "slot": slot,
        "used_tokens": used,
        "unused_tokens": max(slot - used, 0),
        "fill": round(used / slot, 3),
        "packed": sum(d["outcome"] in ("packed", "truncated") for d in decisions),
        "skipped": sum(d["outcome"] == "skipped" for d in decisions),
        "segments": parts,
        "blocks": list(blocks),
        "decisions": [dict(decision) for decision in decisions],
    }


def segments(
    slot: int, used: int, blocks: Iterable[Mapping[str, Any]], *, floored: bool
) -> list[dict[str, Any]]:
    """The slot from left to right: a part for each block, the closing line, the unused room.

    `start` and `width` are percentages of the slot, or of what is used where that is more.
    """
    shown = list(blocks)
    best = min((b["rank"] for b in shown if b["rank"] is not None), default=None)
    parts = [(_part_kind(b, best if floored else None), b["tokens"], _label(b)) for b in shown]
    note = used - sum(tokens for _, tokens, _ in parts)
    parts += [("note", note, "closing line")] if note > 0 else []
    parts += [("unused", slot - used, "unused")] if slot > used else []
    whole, start, found = max(slot, used, 1), 0, []
    for kind, tokens, label in parts:
        at, wide = round(100 * start / whole, 3), round(100 * tokens / whole, 3)
        found.append({"kind": kind, "tokens": tokens, "label": label, "start": at, "width": wide})
        start += tokens
    return found


def _label(block: Mapping[str, Any]) -> str:
    return block["document"] or "an erased document"


def _part_kind(block: Mapping[str, Any], best: int | None) -> str:
    if block["rank"] is None:
        return "pin"
    if block["truncated"] is not None:
        return "truncated"
    return "floor" if block["rank"] == best else "packed"


def _texts(replayer: Replayer, plan: Plan) -> list[dict[str, Any]]:
    texts = replayer.block_texts(plan)
    shown = zip(summary.blocks(plan), texts, strict=True)
    return [
        {
            "document": block.document,
            "chunk_id": block.chunk_id,
            "tokens": block.tokens,
            "text": text,
            "truncated": block.truncated is not None,
        }
        for block, text in shown
    ]


def _comparison(
    request_id: str, before: Plan, after: Plan, decisions: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    found = compare(request_id, before, after, small=SMALL)
    return {
        "before": found.before._asdict(),
        "after": found.after._asdict(),
        "enters": [_moved(name, decisions) for name in found.enters],
        "leaves": [_moved(name, decisions) for name in found.leaves],
        "reordered": found.reordered,
    }


def _moved(name: str, decisions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    decision = decisions.get(name, {})
    wanted = ("rank", "tokens", "outcome", "reason")
    return {"chunk_id": name, **{field: decision.get(field) for field in wanted}}


def _documents(
    store: Store, collection: str, record: PackRecord, facts: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Where each chunk is from, as far as it is still stored."""
    ids = {d["chunk_id"] for picture in _pictures(facts) for d in picture["decisions"]}
    ids |= {chunk.chunk_id for chunk in record.chunks}  # what is pinned too
    rows = store.lookup(collection, sorted(ids), at=record.as_of).rows
    return {row.chunk_id: document_facts_of(row) for row in rows}


def _pictures(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [picture for picture in (facts["logged"], facts["replay"]) if picture]
