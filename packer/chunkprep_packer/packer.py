"""Packing at request time: one lookup, a pure decision, a join, and a log entry."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from chunkprep_ingest.closing import Closing
from chunkprep_ingest.errors import RequestError, StoreError
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import Moment
from chunkprep_packer.answer import Answer, Shared, shared_json
from chunkprep_packer.caller import NOBODY, Caller, valid_traceparent
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.gather import gather
from chunkprep_packer.log_writer import LogWriter
from chunkprep_packer.pack_names import NamedWrites, pack_name, require_free
from chunkprep_packer.profiles import CounterOf, Profiles
from chunkprep_packer.record import Logged, to_record
from chunkprep_packer.render import block_texts, joined
from chunkprep_packer.request import PackRequest
from chunkprep_packer.result import PackResult
from chunkprep_packer.summary import blocks, decisions, figures, warnings
from chunkprep_store import Store
from chunkprep_store.own_process import OwnProcess

LogMode = Literal["background", "sync", "off"]


class Packed(NamedTuple):
    """What packing decided, as values: the plan, its text, its encoding, its moment, the length of
    each block in the text (characters), and whether prices in that encoding add up to the token.
    """

    plan: Plan
    text: str
    encoding: str
    as_of: Moment
    sizes: tuple[int, ...]
    exact: bool = True


class Packer(Closing):
    """Packs retrieved chunks of one store into context windows. Safe to share between threads; a
    forked process opens its own.

    `log` says how packs are logged: "background" (written by a thread in batches, flushed by
    `close` and at exit), "sync" (written before `pack` returns) or "off".
    """

    def __init__(
        self,
        store: Store,
        *,
        log: LogMode = "background",
        clock: Callable[[], Moment] | None = None,
        counter_of: CounterOf | None = None,
        owns_store: bool = False,
    ) -> None:
        _check_mode(log)
        self.store = store
        self._clock = clock or _now
        self._owns_store = owns_store
        self._process = OwnProcess()
        self._profiles = Profiles(store, counter_of)
        self._closed = False
        self._sync = log == "sync"
        self._names = NamedWrites(store)
        self._log = None if log == "off" else LogWriter(self._names.write)

    @classmethod
    def open(cls, url: str, *, log: LogMode = "background") -> Packer:
        """A packer over the store at `url`, which must exist at the current schema.

        Raises StoreError and SchemaError, RequestError for another `log`.
        """
        _check_mode(log)
        return cls(Store.open(url, create=False), log=log, owns_store=True)

    def pack(
        self,
        request: PackRequest,
        *,
        request_id: str | None = None,
        traceparent: str | None = None,
    ) -> PackResult:
        """Pack, log, and answer.

        `request_id` (default: a new one) names the pack in the log: 1 to 200 printable characters.
        Where it is taken, a log written in the background holds this pack under a further name,
        of which a later answer warns. `traceparent` (W3C Trace Context), where it is a valid one,
        is logged with it. Raises RequestError, in sync mode for a name that is taken too, and its
        kinds (PinsExceedSlot, PinNotInForce), NotFoundError for an unknown collection.
        """
        caller = Caller(None, None if traceparent is None else valid_traceparent([traceparent]))
        return self.answer(request, request_id=request_id, caller=caller).result

    def answer(
        self, request: PackRequest, *, request_id: str | None = None, caller: Caller = NOBODY
    ) -> Answer:
        """As `pack`, for those who answer in JSON: what the log holds too is not written twice."""
        if not isinstance(request, PackRequest):
            raise RequestError(
                f"request: must be a PackRequest, not {type(request).__name__}; write "
                f"PackRequest(budget=1600, candidates=hits)",
                "request",
            )
        name = pack_name(request_id)
        if self._sync and request_id is not None and request.log:
            require_free(self.store, request.collection, name)
        packed = self.pack_core(request)
        result = to_result(packed, name)
        if self._log is None or not request.log:
            return Answer(result, {})
        if self.store.read_only:
            notice = "log_dropped: the store is read-only, so this pack is not in its log"
            result.warnings.append(notice)
            return Answer(result, {})
        shared = self._write(packed, request, result, caller)
        if lost := self._log.take_lost():
            count = "1 pack log record was" if lost == 1 else f"{lost} pack log records were"
            result.warnings.append(
                f"log_dropped: {count} lost since the last answer: {self._log.why_lost}"
            )
        if taken := self._names.take_warning():
            result.warnings.append(taken)
        return Answer(result, shared)

    def pack_core(self, request: PackRequest) -> Packed:
        """Look up, decide and render, without a log entry and without a result's objects.

        Raises StoreError where the packer was closed, and in a process that was forked since.
        """
        self._process.require()
        if self._closed:
            raise StoreError("this packer is closed; open another, or pack before `close`")
        at = self._clock() if request.as_of is None else moment(request.as_of)
        facts, encoding, exact, templates = gather(self.store, self._profiles, request, at)
        plan = decide(request, request.candidates, facts)
        parts = block_texts(plan.blocks(), templates, ordinals=request.ordinals)
        text = joined(parts, note=plan.note_tokens > 0)
        return Packed(plan, text, encoding, at, tuple(map(len, parts)), exact)

    @property
    def log_losses(self) -> int:
        """Pack log records lost since the packer was opened."""
        return 0 if self._log is None else self._log.losses

    @property
    def waits(self) -> bool:
        """Whether a pack may have to wait: for a database server, or for room in the log. Readers
        of a SQLite file wait for nobody, its writers included, unless it was opened to read only:
        then it may be one without a write-ahead log.
        """
        full = self._log is not None and self._log.full
        return full or self._sync or self.store.dialect != "sqlite" or self.store.read_only

    def flush(self) -> None:
        """Wait until every pack so far is in the log."""
        if self._log is not None:
            self._log.flush()

    def close(self) -> None:
        """Write what is still to be logged, and let go of the store if it is ours. In a process
        that was forked since, the log stays the business of the one that opened it.
        """
        self._closed = True
        if self._log is not None:
            self._log.close()
        if self._owns_store:
            self.store.close()

    def _write(
        self, packed: Packed, request: PackRequest, result: PackResult, caller: Caller
    ) -> Shared:
        """Log the pack; the JSON that was made for it. A pack that JSON cannot hold (a whole
        number of more than 64 bits, say) is not logged.
        """
        assert self._log is not None
        logged = Logged(
            result.request_id, self._clock(), packed.as_of, packed.encoding, request, packed.plan,
            packed.text, self._profiles.templates, tuple(result.warnings), caller,
        )  # fmt: skip
        try:
            shared = shared_json(  # the text too: its digest then takes the UTF-8 that is made here
                text=result.text, blocks=result.blocks, decisions=result.decisions, log=result.log
            )
            record = to_record(logged, shared)
        except (TypeError, ValueError) as error:
            self._log.lose(f"what it holds is no JSON ({error})")
            return {}
        self._log.put(request.collection, record)
        if self._sync:
            self._log.flush()
        return shared


def _check_mode(log: str) -> None:
    modes = get_args(LogMode)
    if log not in modes:
        raise RequestError(f"log: must be one of {', '.join(modes)}, not {log!r}", "log")


def to_result(packed: Packed, request_id: str) -> PackResult:
    """The answer; its parts are ours and right, so they are not validated again."""
    plan = packed.plan
    return PackResult.model_construct(
        request_id=request_id,
        collection=plan.options.collection,
        encoding=packed.encoding,
        exact=packed.exact,
        slot=plan.options.budget,
        used_tokens=plan.used_tokens,
        pinned_tokens=plan.pinned_tokens,
        text=packed.text,
        blocks=blocks(plan, packed.sizes),
        decisions=decisions(plan),
        log=figures(plan),
        warnings=warnings(plan),
    )


def _now() -> Moment:
    return time.time_ns() // 1000
