"""One request's facts from the store: one lookup, and one more where a candidate is forwarded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_ingest.template import Template
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.pins import resolve_pins, text_row
from chunkprep_packer.render import PARTIAL_NOTE
from chunkprep_packer.request import PackRequest
from chunkprep_packer.screen import superseded
from chunkprep_store import Store, StoredProfile

CounterOf = Callable[[str], Counter]


class Gathered(NamedTuple):
    """The facts, the encoding that all prices are in, and the templates by profile."""

    facts: Facts
    encoding: str
    templates: Mapping[str, Template]


class Profiles:
    """The store's profiles, each read once: a profile never changes."""

    def __init__(self, store: Store, counter_of: CounterOf) -> None:
        self._store = store
        self._counter_of = counter_of
        self._known: dict[str, StoredProfile] = {}
        self._notes: dict[str, int] = {}
        self.templates: dict[str, Template] = {}
        self.ordinal_tokens: dict[str, int] = {}

    def __getitem__(self, fingerprint: str) -> StoredProfile:
        """The profile, read from the store the first time."""
        if fingerprint not in self._known:
            self.add(self._store.template(fingerprint))
        return self._known[fingerprint]

    def add(self, profile: StoredProfile) -> StoredProfile:
        """Remember a profile."""
        self._known[profile.fingerprint] = profile
        self.templates[profile.fingerprint] = profile.template
        self.ordinal_tokens[profile.fingerprint] = profile.ordinal_tokens
        return profile

    def counter(self, encoding: str) -> Counter:
        """The encoding's tokenizer, for texts that the caller brings along."""
        return self._counter_of(encoding)

    def note_tokens(self, encoding: str) -> int:
        """What the closing line costs, counted once per encoding."""
        if encoding not in self._notes:
            self._notes[encoding] = self.counter(encoding).count(PARTIAL_NOTE)
        return self._notes[encoding]


def gather(store: Store, profiles: Profiles, request: PackRequest, at: Moment) -> Gathered:
    """Look up candidates and pins in one query, and judge at `at`.

    Raises PinNotInForce, RequestError, and NotFoundError for a collection that does not exist.
    """
    ids = [candidate.chunk_id for candidate in request.candidates]
    lookup = store.lookup(
        request.collection,
        [*ids, *request.pin] if request.pin else ids,
        encoding=request.encoding,
        documents=request.pin,
        at=at,
    )
    rows = {row.chunk_id: row for row in lookup.rows}
    pins: list[ChunkRow] = []
    if request.pin:
        access = frozenset(request.access)
        pins = resolve_pins(request.pin, rows, lookup.pinned, access=access, at=at)
    facts = Facts(rows, judge_at(request, at), pins=pins)
    if request.on_superseded == "forward":
        facts = _forward(store, request, facts, at)
    profile = _profile(store, profiles, request, facts)
    if request.pin_text:
        facts = replace(facts, pins=[*pins, *_text_rows(request, profile, profiles)])
    if request.ordinals:
        facts = replace(facts, ordinal_tokens=profiles.ordinal_tokens)
    if request.partial_note:
        facts = replace(facts, note_tokens=profiles.note_tokens(profile.encoding))
    return Gathered(facts, profile.encoding, profiles.templates)


def _forward(store: Store, request: PackRequest, facts: Facts, at: Moment) -> Facts:
    old = superseded(request.candidates, facts)
    if not old:
        return facts
    return replace(
        facts,
        successors=store.successors(request.collection, old, at, encoding=request.encoding),
    )


def _profile(
    store: Store, profiles: Profiles, request: PackRequest, facts: Facts
) -> StoredProfile:
    """The profile of the rows' prices, all of one encoding; the collection's where there are none.

    Raises RequestError where some rows are priced in another encoding: they would not add up.
    """
    found = _used(facts)
    if not found:
        return profiles.add(store.profile(request.collection))
    used = [profiles[fingerprint] for fingerprint in found]
    encodings = sorted({profile.encoding for profile in used})
    if len(encodings) > 1 or (request.encoding or encodings[0]) != encodings[0]:
        wanted = request.encoding or store.profile(request.collection).encoding
        raise RequestError(
            f"encoding: some chunks have no price in {wanted}, only in {', '.join(encodings)}; "
            f"run `chunkprep recount --encoding {wanted}`",
            "encoding",
        )
    return used[0]


def _used(facts: Facts) -> list[str]:
    """Profiles of all rows, those of the most recent rows first."""
    groups: Iterable[Iterable[ChunkRow]] = (
        facts.rows.values(), facts.successors.values(), facts.pins
    )  # fmt: skip
    return sorted({row.profile for rows in groups for row in rows})


def _text_rows(
    request: PackRequest, profile: StoredProfile, profiles: Profiles
) -> Sequence[ChunkRow]:
    counter = profiles.counter(profile.encoding)
    return [
        text_row(
            pin,
            at,
            template=profile.template,
            profile=profile.fingerprint,
            counter=counter,
        )
        for at, pin in enumerate(request.pin_text)
    ]
