"""Logged packs again: proved as they were, or done another way and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from chunkprep_ingest.errors import ChunkprepError, NotFoundError
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.model import Moment
from chunkprep_packer.compare import Comparison, compare
from chunkprep_packer.decide import Plan, decide
from chunkprep_packer.facts import Facts
from chunkprep_packer.gather import price, read_facts
from chunkprep_packer.logged import UNKNOWN_PROFILE, LoggedPack, LoggedRequest
from chunkprep_packer.profiles import CounterOf, Profiles
from chunkprep_packer.render import block_texts, render
from chunkprep_packer.summary import decisions
from chunkprep_store import PackRecord, Store
from chunkprep_store.audit.lists import UnreadableError
from chunkprep_store.packlog_columns import disagreement


class Proof(NamedTuple):
    """Whether an unchanged replay gives the logged text, byte for byte.

    `identical`: it does. `identical_but_pins`: all but its pinned texts does, which the log does
    not hold. `differs`: it does not, or the row's columns say otherwise than its JSON (`detail`
    says where). `gone`: chunks that the pack used were pruned or erased, so that it cannot be
    rebuilt.
    """

    request_id: str
    verdict: Literal["identical", "identical_but_pins", "differs", "gone"]
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
        self._profiles = Profiles(store, counter_of)

    def verify(self, records: Iterable[PackRecord]) -> Iterator[Proof]:
        """Prove each pack: columns that say what its JSON says, the same decisions and text."""
        for record in records:
            wrong = disagreement(record)
            if wrong is not None:
                yield Proof(record.request_id, "differs", wrong)
                continue
            try:
                logged = LoggedPack.of(record)
                facts = self._logged_facts(logged, changed=False)
            except UnreadableError as error:
                yield Proof(record.request_id, "differs", str(error))
            except NotFoundError as error:
                yield Proof(record.request_id, "gone", str(error))
            else:
                yield self._proof(logged, self._decide(logged.request, facts))

    def replay(
        self, records: Iterable[PackRecord], changes: Mapping[str, object]
    ) -> Iterator[Replayed]:
        """Each pack as logged, and under `changes` (options of PackRequest by name).

        Raises RequestError for an option that is wrong.
        """
        for record in records:
            try:
                logged = LoggedPack.of(record)
            except UnreadableError as error:
                yield Replayed(record.request_id, None, None, str(error))
                continue
            request = logged.changed(changes)
            before = None
            try:
                logged.require_similarities(changes)
                facts = self._logged_facts(logged, changed=bool(changes))
                before = self._decide(logged.request, facts)
                if self._as_now is not None:
                    facts = self._current_facts(logged, request, self._as_now)
                after = self._decide(request, facts)
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

    def block_texts(self, plan: Plan) -> list[str]:
        """The text of each of the plan's blocks, "" for a pinned text that the log lacks."""
        return block_texts(
            plan.blocks(),
            self._profiles.templates,
            ordinals=plan.options.ordinals,
            stored_only=any(not row.text for row in plan.pins),
        )

    def _decide(self, options: LoggedRequest, facts: Facts) -> Plan:
        """The plan under `options`, priced for them."""
        rows = [*facts.rows.values(), *facts.successors.values(), *facts.pins]
        used = self._profiles.load({row.profile for row in rows} - {UNKNOWN_PROFILE})
        priced = price(facts, options, self._profiles, used[0]) if used else facts
        return decide(options, options.candidates, priced)

    def _logged_facts(self, logged: LoggedPack, *, changed: bool) -> Facts:
        """The facts as logged. Raises NotFoundError where chunks that are needed are gone."""
        record = logged.record
        found = self._store.lookup(
            self._collection, logged.known_ids(), encoding=record.encoding, at=record.as_of
        ).rows
        gone = logged.needed_ids(changed=changed) - {row.chunk_id for row in found}
        if gone:
            many = f"{len(gone)} chunks are gone, {min(gone)} among them"
            raise NotFoundError(many if len(gone) > 1 else f"chunk {min(gone)} is gone")
        self._profiles.load(pin.profile for pin in logged.request.pin_text)
        return logged.facts(found, self._profiles.templates)

    def _current_facts(self, logged: LoggedPack, options: LoggedRequest, at: Moment) -> Facts:
        """The facts of today's store for the logged candidates and pins."""
        encoding = logged.record.encoding
        facts = read_facts(self._store, options, options.candidates, at, encoding)
        self._profiles.load(pin.profile for pin in options.pin_text)
        texts = logged.pinned_texts(self._profiles.templates)
        return replace(facts, pins=[*facts.pins, *texts], cosines=logged.cosines())

    def _proof(self, logged: LoggedPack, plan: Plan) -> Proof:
        name = logged.record.request_id
        made, kept = decisions(plan), logged.result["decisions"]
        if len(made) != len(kept):
            return Proof(name, "differs", f"logged {len(kept)} decisions, replayed {len(made)}")
        for new, old in zip(made, kept, strict=True):
            if (new.chunk_id, new.outcome, new.reason, new.tokens) != (
                old["chunk_id"], old["outcome"], old["reason"], old["tokens"]
            ):  # fmt: skip
                return Proof(
                    name,
                    "differs",
                    f"{new.chunk_id}: logged {old['outcome']} at {old['tokens']} tokens "
                    f"({old['reason']}), replayed {new.outcome} at {new.tokens} ({new.reason})",
                )
        if plan.used_tokens != logged.record.used_tokens:
            text = f"logged {logged.record.used_tokens} used tokens, replayed {plan.used_tokens}"
            return Proof(name, "differs", text)
        stored_hash = logged.result.get("stored_hash")
        text = self._render(plan, stored_only=stored_hash is not None)
        if text_hash(text) != (stored_hash or logged.result["text_hash"]):
            return Proof(name, "differs", "the same decisions, but another text")
        if stored_hash is None:
            return Proof(name, "identical")
        left_out = "but for the pinned texts, which the log does not hold"
        return Proof(name, "identical_but_pins", left_out)

    def _render(self, plan: Plan, *, stored_only: bool) -> str:
        return render(
            plan.blocks(),
            self._profiles.templates,
            ordinals=plan.options.ordinals,
            note=plan.note_tokens > 0,
            stored_only=stored_only,
        )
