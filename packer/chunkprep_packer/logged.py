"""Reading the pack log back: the request and the facts as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from chunkprep_ingest.errors import NotFoundError, RequestError
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_ingest.template import Template
from chunkprep_packer.caller import LONGEST_ID, MEMBER, caller_in, is_trace_id, needle
from chunkprep_packer.diversity import Cosines, from_text
from chunkprep_packer.eligibility import Judge
from chunkprep_packer.facts import Facts
from chunkprep_packer.logged_result import logged_result, unreadable
from chunkprep_packer.pins import dressed_row, unread_text_row
from chunkprep_packer.request import Candidate, PackOptions, PinText
from chunkprep_packer.result import LEFT_OUT
from chunkprep_store import PackRecord, Store
from chunkprep_store.audit.stopped import UNREAD

_ELIGIBILITY = frozenset(
    {"superseded", "withdrawn", "draft", "not_yet_valid", "expired", "filtered"}
)

_REPEATS = frozenset({"duplicate", "near_duplicate"})
_SHOWN = frozenset({"packed", "truncated", "pinned"})

REPLAYABLE = frozenset(
    {"budget", "min_score", "strategy", "mmr", "mmr_max_similarity", "dedupe", "floor"}
    | {"truncate", "cut_at", "cut_any_kind", "order", "ordinals", "partial_note"}
)
"""Options that a replay may change; the others decide what is eligible, which was logged."""


_NEEDED = ("pins", "since", "cosines", "text_hash")
"""What a replay needs of a result besides what sums are made of."""

UNKNOWN_PROFILE = ""
"""Profile of a row that is not there any more: nothing is added to its price."""


@dataclass(frozen=True, slots=True)
class LoggedPin:
    """A pinned text as logged: `text` is None unless the request allowed it to be kept."""

    name: str
    text: str | None
    hash: str
    tokens: int
    profile: str


class LoggedRequest(PackOptions):
    """A request as logged: without vectors, and with pinned texts as hash and tokens."""

    candidates: tuple[Candidate, ...]
    pin_text: tuple[LoggedPin, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedPack:
    """One record of the log, parsed. `result` is `record.py`'s JSON."""

    record: PackRecord
    request: LoggedRequest
    result: Mapping[str, Any]

    @classmethod
    def of(cls, record: PackRecord) -> LoggedPack:
        """Parse a record. Raises UnreadableError where it is not what chunkprep writes there."""
        result = logged_result(record)
        try:
            _ = [result[name] for name in _NEEDED]
            request = LoggedRequest(**request_fields(record, result))
        except (RequestError, *UNREAD) as error:
            raise unreadable(record, "request or result", error) from error
        return cls(record, request, result)

    def known_ids(self) -> list[str]:
        """Every chunk that the decision knew: pins, candidates, what they were forwarded to."""
        known = [d["chunk_id"] for d in self.result["decisions"] if d["tokens"] is not None]
        return list(dict.fromkeys([*self.result["pins"], *known]))

    def needed_ids(self, *, changed: bool) -> set[str]:
        """The chunks that a replay cannot do without: those shown; in a `changed` one, those that
        were left out for want of room too.
        """
        decisions = self.result["decisions"]
        needed = {d["chunk_id"] for d in decisions if d["outcome"] in _SHOWN}
        if changed:
            needed |= {d["chunk_id"] for d in decisions if d["reason"] in LEFT_OUT}
        return needed | set(self.result["pins"])

    def changed(self, changes: Mapping[str, object]) -> LoggedRequest:
        """The request under other options. Raises RequestError for an option that is wrong."""
        foreign = set(changes) - REPLAYABLE
        if foreign:
            name = min(foreign)
            raise RequestError(
                f"{name}: not an option of a replay; use one of {', '.join(sorted(REPLAYABLE))}",
                name,
            )
        same = self.request.fields_of(LoggedRequest.model_fields)
        return LoggedRequest(**{**same, **changes})

    def require_similarities(self, changes: Mapping[str, object]) -> None:
        """Raise NotFoundError where `changes` ask for diversity that the log cannot judge."""
        if changes.get("mmr") is not None and self.result["cosines"] is None:
            raise NotFoundError(
                f"mmr: request {self.record.request_id} was packed without diversity, so the log "
                f"holds no similarities; replay it without mmr"
            )

    def facts(
        self,
        rows: Sequence[ChunkRow],
        templates: Mapping[str, Template],
    ) -> Facts:
        """The facts as logged, over rows whose texts and prices never change.

        `rows` are those of `known_ids()` that are still there; the logged price stands in for one
        that is not. Eligibility, forwarding and the moments that an order goes by are logged.
        """
        since = self.result["since"]
        by_id = {
            row.chunk_id: row._replace(held_from=since.get(row.chunk_id, row.held_from))
            for row in rows
        }
        absent = [d for d in self.result["decisions"] if d["chunk_id"] not in by_id]
        by_id |= {d["chunk_id"]: _absent_row(d) for d in absent if d["tokens"] is not None}
        known, successors = dict(by_id), {}
        for decision in self.result["decisions"]:
            old = decision["forwarded_from"]
            if old is not None:
                successors[old] = by_id[decision["chunk_id"]]
                known.setdefault(old, successors[old]._replace(chunk_id=old))
        return Facts(
            known,
            self._judge({decision["chunk_id"] for decision in absent}),
            successors=successors,
            pins=[*(by_id[name] for name in self.result["pins"]), *self.pinned_texts(templates)],
            cosines=self.cosines(),
        )

    def cosines(self) -> Cosines | None:
        """The similarities that diversity went by, where it was asked for."""
        texts = self.result["cosines"]
        return None if texts is None else from_text(texts, len(self.request.candidates))

    def pinned_texts(self, templates: Mapping[str, Template]) -> list[ChunkRow]:
        """Rows of the pinned texts at their logged price, with their text where it was logged."""
        return [_pin_row(pin, at, templates) for at, pin in enumerate(self.request.pin_text)]

    def _judge(self, absent: set[str]) -> Judge:
        """The logged eligibility; of absent chunks also whether they repeated another one."""
        reasons: dict[str, str | None] = {}
        for decision in self.result["decisions"]:
            name, reason = decision["chunk_id"], decision["reason"]
            if decision["forwarded_from"] is not None:
                reasons.setdefault(decision["forwarded_from"], "superseded")
            if reason != "duplicate_id":
                known = _ELIGIBILITY | _REPEATS if name in absent else _ELIGIBILITY
                reasons.setdefault(name, reason if reason in known else None)
        return lambda row: reasons.get(row.chunk_id)


def request_fields(record: PackRecord, result: Mapping[str, Any]) -> dict[str, Any]:
    """The request as logged; `result` is the record's, parsed. Its decisions tell the candidates,
    best first, unless the record is of format 1. Who asked (`caller.py`) is not in it.
    """
    candidates = [
        {"chunk_id": d["forwarded_from"] or d["chunk_id"], "score": d["score"]}
        for d in result["decisions"]
    ]
    fields = {"candidates": candidates, **orjson.loads(record.request_json)}
    fields.pop(MEMBER, None)
    return fields


def packs_called(
    store: Store,
    collection: str,
    *,
    trace_id: str | None = None,
    caller_id: str | None = None,
    since: Moment | None = None,
) -> Iterator[PackRecord]:
    """Logged packs of a trace, or of that name with their caller, the oldest first.

    Those whose request cannot be read are left out. Raises RequestError where neither is given,
    and for a trace id that is none.
    """
    if trace_id is None and caller_id is None:
        raise RequestError("trace_id: say which trace, or give a caller_id", "trace_id")
    if trace_id is not None and not is_trace_id(trace_id):
        raise RequestError(
            f"trace_id: {trace_id!r} is none; it has 32 lower-case hexadecimal digits", "trace_id"
        )
    caller_id = None if caller_id is None else caller_id[:LONGEST_ID]
    holds = needle(trace_id=trace_id, caller_id=caller_id)
    for record in store.packs(collection, since, holds=holds):
        try:
            caller = caller_in(record.request_json)
        except UNREAD:
            continue  # the audit's check `pack_log` names it
        if trace_id in (None, caller.trace_id) and caller_id in (None, caller.caller_id):
            yield record


def _absent_row(decision: Mapping[str, Any]) -> ChunkRow:
    """A chunk of which only the logged price is known."""
    row = unread_text_row(
        "", 0, tokens=decision["tokens"], content_hash="", profile=UNKNOWN_PROFILE
    )
    return row._replace(chunk_id=decision["chunk_id"])


def _pin_row(pin: LoggedPin, at: int, templates: Mapping[str, Template]) -> ChunkRow:
    if pin.text is None:
        return unread_text_row(
            pin.name, at, tokens=pin.tokens, content_hash=pin.hash, profile=pin.profile
        )
    template, text = templates[pin.profile], PinText(pin.text, pin.name)
    row = dressed_row(text, at, template=template, profile=pin.profile)
    return row._replace(block_tokens=pin.tokens)
