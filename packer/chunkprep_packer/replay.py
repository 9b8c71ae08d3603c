"""Logged packs again: proved as they were, or done another way and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import Moment
from chunkprep_packer.compare import Comparison, compare
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.gather import CounterOf, Profiles
from chunkprep_packer.logged import LoggedPack, LoggedRequest
from chunkprep_packer.pins import resolve_pins
from chunkprep_packer.render import render
from chunkprep_packer.screen import superseded
from chunkprep_packer.summary import decisions
from chunkprep_store import PackRecord, Store


class Proof(NamedTuple):
    """Whether an unchanged replay gives the logged text, byte for byte.

    `identical`: it does. `differs`: it does not (`detail` says where). `gone`: chunks that the
    pack used were pruned or erased, so that it cannot be rebuilt.
    """

    request_id: str
    verdict: Literal["identical", "differs", "gone"]
    detail: str = ""


class Replayed(NamedTuple):
    """A logged pack as it was, and as it would be: `detail` says why where it cannot be done."""

    request_id: str
    before: Plan | None
    after: Plan | None
    detail: str = ""


class Replayer:
    """Replays packs of one collection.

    `as_now` (a moment) judges candidates by today's store instead of by the logged facts.
    """

    def __init__(
        self,
        store: Store,
        collection: str,
        *,
        as_now: Moment | None = None,
        counter_of: CounterOf | None = None,
    ) -> None:
        self._store = store
        self._collection = collection
        self._as_now = as_now
        self._profiles = Profiles(store, counter_of or _tiktoken)

    def verify(self, records: Iterable[PackRecord]) -> Iterator[Proof]:
        """Prove each pack: the same decisions, and the same text."""
        for record in records:
            logged = LoggedPack.of(record)
            facts = self._logged_facts(logged)
            if isinstance(facts, str):
                yield Proof(record.request_id, "gone", facts)
            else:
                plan = decide(logged.request, logged.request.candidates, facts)
                yield self._proof(logged, plan)

    def replay(
        self, records: Iterable[PackRecord], changes: Mapping[str, object]
    ) -> Iterator[Replayed]:
        """Each pack as logged, and under `changes` (options of PackRequest by name).

        Raises RequestError for an option that is wrong.
        """
        for record in records:
            logged = LoggedPack.of(record)
            request = logged.changed(changes)
            facts = self._logged_facts(logged, note=request.partial_note)
            if isinstance(facts, str):
                yield Replayed(record.request_id, None, None, facts)
                continue
            before = decide(logged.request, logged.request.candidates, facts)
            try:
                current = facts if self._as_now is None else self._current_facts(logged, request)
                after = decide(request, request.candidates, current)
            except ChunkprepError as error:
                yield Replayed(record.request_id, before, None, str(error))
            else:
                yield Replayed(record.request_id, before, after)

    def compare(
        self, records: Iterable[PackRecord], changes: Mapping[str, object], *, small: int = 100
    ) -> Iterator[Comparison]:
        """What `changes` would do to each pack that can be replayed; `small` in tokens."""
        for replayed in self.replay(records, changes):
            if replayed.before is not None and replayed.after is not None:
                yield compare(replayed.request_id, replayed.before, replayed.after, small=small)

    def text(self, plan: Plan) -> str:
        """The plan's context. Pinned texts that the log does not hold are left out."""
        return self._render(plan, stored_only=any(not row.text for row in plan.pins))

    def _logged_facts(self, logged: LoggedPack, *, note: bool = False) -> Facts | str:
        """The facts as logged, or which chunks are gone."""
        wanted = [
            decision["chunk_id"]
            for decision in logged.result["decisions"]
            if decision["reason"] != "unknown_id"
        ]
        ids = list(dict.fromkeys([*logged.result["pins"], *wanted]))
        record = logged.record
        lookup = self._store.lookup(
            self._collection, ids, encoding=record.encoding, at=record.as_of
        )
        missing = len(ids) - len(lookup.rows)
        if missing:
            return f"{missing} of {len(ids)} chunks were pruned or erased"
        for fingerprint in {
            *(row.profile for row in lookup.rows),
            *(pin.profile for pin in logged.request.pin_text),
        }:
            self._profiles[fingerprint]
        note = note or logged.request.partial_note
        return logged.facts(
            lookup.rows,
            templates=self._profiles.templates,
            ordinal_tokens=self._profiles.ordinal_tokens,
            note_tokens=self._profiles.note_tokens(record.encoding) if note else 0,
        )

    def _current_facts(self, logged: LoggedPack, request: LoggedRequest) -> Facts:
        """The facts of today's store for the logged candidates and pins."""
        at, encoding = self._as_now, logged.record.encoding
        assert at is not None
        ids = [candidate.chunk_id for candidate in request.candidates]
        lookup = self._store.lookup(
            self._collection, [*ids, *request.pin], encoding=encoding, documents=request.pin, at=at
        )
        rows = {row.chunk_id: row for row in lookup.rows}
        for row in lookup.rows:
            self._profiles[row.profile]
        pins = resolve_pins(
            request.pin, rows, lookup.pinned, access=frozenset(request.access), at=at
        )
        facts = Facts(
            rows,
            judge_at(request, at),
            pins=[*pins, *logged.pinned_texts(self._profiles.templates)],
            ordinal_tokens=self._profiles.ordinal_tokens,
            note_tokens=self._profiles.note_tokens(encoding) if request.partial_note else 0,
            cosines=logged.cosines() if request.mmr is not None else None,
        )
        old = superseded(request.candidates, facts) if request.on_superseded == "forward" else []
        if not old:
            return facts
        successors = self._store.successors(self._collection, old, at, encoding=encoding)
        for row in successors.values():
            self._profiles[row.profile]
        return _with_successors(facts, successors)

    def _proof(self, logged: LoggedPack, plan: Plan) -> Proof:
        name = logged.record.request_id
        for new, old in zip(decisions(plan), logged.result["decisions"], strict=True):
            if (new.chunk_id, new.outcome, new.reason, new.tokens) != (
                old["chunk_id"], old["outcome"], old["reason"], old["tokens"]
            ):  # fmt: skip
                return Proof(
                    name,
                    "differs",
                    f"{new.chunk_id}: logged {old['outcome']} at {old['tokens']} tokens "
                    f"({old['reason']}), replayed {new.outcome} at {new.tokens} ({new.reason})",
                )
        stored_hash = logged.result.get("stored_hash")
        text = self._render(plan, stored_only=stored_hash is not None)
        if text_hash(text) != (stored_hash or logged.result["text_hash"]):
            return Proof(name, "differs", "the same decisions, but another text")
        left_out = "but for the pinned texts, which the log does not hold"
        return Proof(name, "identical", "" if stored_hash is None else left_out)

    def _render(self, plan: Plan, *, stored_only: bool) -> str:
        return render(
            plan.blocks(),
            self._profiles.templates,
            ordinals=plan.options.ordinals,
            note=plan.note_tokens > 0,
            stored_only=stored_only,
        )


def _with_successors(facts: Facts, successors: Mapping[str, object]) -> Facts:
    raise NotImplementedError


def _tiktoken(encoding: str) -> Counter:
    from chunkprep_ingest.tokens import tiktoken_counter

    return tiktoken_counter(encoding)
