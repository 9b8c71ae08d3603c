"""A logged pack's result, parsed: whole in its form, though erasing a document took from it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import orjson

from chunkprep_packer.result import Block, Decision
from chunkprep_store import PackRecord

_BLOCK: dict[str, Any] = dict.fromkeys((one.name for one in fields(Block)), None)
_DECISION: dict[str, Any] = dict.fromkeys((one.name for one in fields(Decision)), None)


def logged_result(record: PackRecord) -> dict[str, Any]:
    """The record's result. Blocks and decisions on chunks that were erased keep their numbers and
    ids; None stands for what else was there, the name of their document too.
    """
    result: dict[str, Any] = orjson.loads(record.result_json)
    result["blocks"] = [_block(one) for one in result["blocks"]]
    result["decisions"] = [
        one if "forwarded_from" in one else {**_DECISION, **one} for one in result["decisions"]
    ]
    return result


def _block(logged: dict[str, Any]) -> dict[str, Any]:
    if "truncated" in logged:
        return logged
    return {**_BLOCK, "heading_path": [], "pinned": logged["rank"] is None, **logged}
