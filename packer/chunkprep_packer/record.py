"""A pack as the log keeps it: enough to explain it, to replay it, and to prove the replay.

`request_json` is the request without vectors, pinned texts (hash and tokens instead, unless the
request says otherwise) and candidates, which the decisions tell, and what its caller called it;
`result_json` the answer without its text, with the text's digest and the facts that a later replay
could not read from the store any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import Moment
from chunkprep_ingest.template import Template
from chunkprep_packer.answer import Shared
from chunkprep_packer.caller import MEMBER, NOBODY, Caller
from chunkprep_packer.decide import Plan
from chunkprep_packer.diversity import to_text
from chunkprep_packer.eligibility import since
from chunkprep_packer.pins import TEXT_ID
from chunkprep_packer.render import render
from chunkprep_packer.request import PackRequest
from chunkprep_store import PackedChunk, PackRecord

FORMAT = 2
"""Version of the JSON that a record holds; before 2, candidates stood in the request too."""


class Logged(NamedTuple):
    """One pack on its way to the log."""

    request_id: str
    at: Moment
    as_of: Moment
    encoding: str
    request: PackRequest
    plan: Plan
    text: str
    templates: Mapping[str, Template]
    warnings: tuple[str, ...]
    caller: Caller = NOBODY


def to_record(logged: Logged, shared: Shared) -> PackRecord:
    """The record that the store writes; `shared` are the blocks, decisions and figures (`log`) that
    the caller is answered.
    """
    return PackRecord(
        request_id=logged.request_id,
        at=logged.at,
        as_of=logged.as_of,
        encoding=logged.encoding,
        slot=logged.request.budget,
        used_tokens=logged.plan.used_tokens,
        request_json=orjson.dumps(_request(logged)).decode(),
        result_json=orjson.dumps(_result(logged, shared)).decode(),
        warnings=logged.warnings,
        chunks=tuple(
            PackedChunk(row.chunk_id, position, None if cut is None else cut.offset, row.version_id)
            for position, (row, cut) in enumerate(logged.plan.blocks())
            if row.chunk_id != TEXT_ID
        ),
    )


def _request(logged: Logged) -> dict[str, Any]:
    request = logged.request
    data = request.model_dump(mode="json", exclude={"candidates", "query_vector", "pin_text"})
    rows = [row for row in logged.plan.pins if row.chunk_id == TEXT_ID]
    data["pin_text"] = [
        {
            "name": pin.name,
            "text": pin.text if request.log_pinned_text else None,
            "hash": row.content_hash,
            "tokens": row.block_tokens,
            "profile": row.profile,
        }
        for pin, row in zip(request.pin_text, rows, strict=True)
    ]
    known = logged.caller.known()
    return {MEMBER: known, **data} if known else data


def _result(logged: Logged, shared: Shared) -> dict[str, Any]:
    plan = logged.plan
    cosines = plan.screened.cosines
    return {
        "format": FORMAT,
        "blocks": shared["blocks"],
        "decisions": shared["decisions"],
        "log": shared["log"],
        "pinned_tokens": plan.pinned_tokens,
        "pins": [row.chunk_id for row in plan.pins if row.chunk_id != TEXT_ID],
        "note_tokens": plan.note_tokens,
        **_hashes(logged),
        "since": _since(plan),
        "cosines": None if cosines is None else to_text(cosines),
    }


def _hashes(logged: Logged) -> dict[str, str]:
    """Digests of the text, and of what a replay can rebuild where pinned texts are not logged."""
    found = {"text_hash": text_hash(logged.text)}
    if logged.request.pin_text and not logged.request.log_pinned_text:
        plan = logged.plan
        stored = render(
            plan.blocks(),
            logged.templates,
            ordinals=logged.request.ordinals,
            note=plan.note_tokens > 0,
            stored_only=True,
        )
        found["stored_hash"] = text_hash(stored)
    return found


def _since(plan: Plan) -> Mapping[str, Moment]:
    """By chunk id, the moment that a chronological order goes by: it may be corrected later."""
    return {row.chunk_id: since(row) for row in plan.screened.rows if row is not None}
