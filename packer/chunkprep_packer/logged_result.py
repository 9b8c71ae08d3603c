"""A logged pack's result, parsed: whole in its form, though erasing a document took from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import orjson

from chunkprep_packer.result import Block, Decision
from chunkprep_store import PackRecord
from chunkprep_store.audit.lists import UnreadableError
from chunkprep_store.audit.stopped import UNREAD, cause

_BLOCK: dict[str, Any] = dict.fromkeys((one.name for one in fields(Block)), None)
_DECISION: dict[str, Any] = dict.fromkeys((one.name for one in fields(Decision)), None)

_FIGURES = ("offered", "packed", "skipped_for_size", "fill", "truncation_fired")
_OF_DECISIONS = ("rank", "outcome", "reason")


def logged_result(record: PackRecord) -> dict[str, Any]:
    """The record's result. Blocks and decisions on chunks that were erased keep their numbers and
    ids; None stands for what else was there, the name of their document too.

    Raises UnreadableError where it is not what chunkprep writes there.
    """
    try:
        result: dict[str, Any] = orjson.loads(record.result_json)
        result["blocks"] = [_block(one) for one in result["blocks"]]
        result["decisions"] = [
            one if "forwarded_from" in one else {**_DECISION, **one} for one in result["decisions"]
        ]
        _check(result["log"], result["decisions"])
    except UNREAD as error:
        raise unreadable(record, "result", error) from error
    return result


def unreadable(record: PackRecord, part: str, error: BaseException) -> UnreadableError:
    """What to say of a record whose `part` cannot be read."""
    return UnreadableError(f"pack {record.request_id}: its {part} cannot be read: {cause(error)}")


def _block(logged: dict[str, Any]) -> dict[str, Any]:
    if "truncated" in logged:
        cut = logged["truncated"]
        if cut is not None:
            _ = cut["kind"], cut["omitted_chars"] + 0
        return logged
    return {**_BLOCK, "heading_path": [], "pinned": logged["rank"] is None, **logged}


def _check(figures: dict[str, Any], decisions: Iterable[dict[str, Any]]) -> None:
    """Read once what is added up: a sum is not to stop halfway through a pack."""
    for name in _FIGURES:
        _ = figures[name] + 0
    if not isinstance(figures["rank1"], str):
        raise TypeError(f"rank1 is {figures['rank1']!r}")
    for one in decisions:
        _ = [one[name] for name in _OF_DECISIONS]
