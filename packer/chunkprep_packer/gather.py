"""One request's facts from the store: one lookup, and one more where a candidate is forwarded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from chunkprep_ingest.errors import ProfileError, RequestError
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_ingest.template import Template
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.pins import resolve_pins, text_row
from chunkprep_packer.profiles import Profiles, offline_encodings
from chunkprep_packer.ranking import ranked_cosines
from chunkprep_packer.request import Candidate, PackOptions, PackRequest
from chunkprep_packer.screen import superseded
from chunkprep_store import Lookup, Snapshot, Store, StoredProfile


class Gathered(NamedTuple):
    """The facts, the encoding that all prices are in and whether they add up to the token, and
    the templates by profile.
    """

    facts: Facts
    encoding: str
    exact: bool
    templates: Mapping[str, Template]


def gather(store: Store, profiles: Profiles, request: PackRequest, at: Moment) -> Gathered:
    """All facts for `request`, judged at `at`.

    Raises PinNotInForce, RequestError, and NotFoundError for a collection that does not exist.
    """
    try:
        facts = read_facts(store, request, request.candidates, at, request.encoding)
    except RequestError as error:
        if error.field == "encoding":
            require_encoding(store, profiles, request)
        raise
    if not (facts.rows or facts.pins):
        require_encoding(store, profiles, request)
    profile = _profile(store, profiles, request, facts)
    if request.mmr is not None:
        facts = replace(facts, cosines=ranked_cosines(request))
    if request.pin_text:
        texts = _text_rows(request, profile, profiles)
        facts = replace(facts, pins=[*facts.pins, *texts])
    facts = price(facts, request, profiles, profile)
    return Gathered(facts, profile.encoding, profile.exact, profiles.templates)


def require_encoding(store: Store, profiles: Profiles, options: PackOptions) -> None:
    """Raises RequestError for an encoding in which nothing is priced and nothing can be."""
    encoding = options.encoding
    if encoding is None or encoding in (priced := store.encodings(options.collection)):
        return
    try:
        profiles.counter_of(encoding)
    except ProfileError as error:
        names = ", ".join(sorted({*offline_encodings(), *priced}))
        raise RequestError(
            f"encoding: {encoding!r} is not at hand; use one of {names}", "encoding"
        ) from error


def price(facts: Facts, options: PackOptions, profiles: Profiles, profile: StoredProfile) -> Facts:
    """The facts with the prices of numbers and of the closing line, where they are asked for.

    Raises RequestError where numbers have no constant price.
    """
    if options.ordinals:
        if profile.ordinal_tokens < 1:
            raise RequestError(
                f"ordinals: numbers have no constant price with template "
                f"{profile.template.name!r} in {profile.encoding}; leave ordinals off",
                "ordinals",
            )
        facts = replace(facts, ordinal_tokens=profiles.ordinal_tokens)
    if options.partial_note:
        facts = replace(facts, note_tokens=profiles.note_tokens(profile.encoding))
    return facts


def read_facts(
    store: Store,
    options: PackOptions,
    candidates: Sequence[Candidate],
    at: Moment,
    encoding: str | None,
) -> Facts:
    """Candidates and pinned chunks in one query; successors in the same snapshot where asked for.

    Raises PinNotInForce, and RequestError for chunks without a price in `encoding`.
    """
    names = [candidate.chunk_id for candidate in candidates]
    if options.pin:
        names += options.pin
    collection = options.collection
    if options.on_superseded == "drop":
        found = store.lookup(collection, names, encoding=encoding, documents=options.pin, at=at)
        return _facts(found, options, at, encoding)
    with store.snapshot(collection) as snapshot:
        found = snapshot.lookup(names, encoding=encoding, documents=options.pin, at=at)
        facts = _facts(found, options, at, encoding)
        old = superseded(candidates, facts)
        successors = _successors(snapshot, old, at, encoding) if old else {}
    return replace(facts, successors=successors)


def _facts(found: Lookup, options: PackOptions, at: Moment, encoding: str | None) -> Facts:
    if found.unpriced:
        raise _unpriced(len(found.unpriced), encoding)
    rows = {row.chunk_id: row for row in found.rows}
    pins: list[ChunkRow] = []
    if options.pin:
        access = frozenset(options.access)
        pins = resolve_pins(options.pin, rows, found.pinned, access=access, at=at)
    return Facts(rows, judge_at(options, at), pins=pins)


def _successors(
    snapshot: Snapshot, old: Sequence[str], at: Moment, encoding: str | None
) -> Mapping[str, ChunkRow]:
    """By superseded id, the row in force that continues it, priced in `encoding`."""
    found = snapshot.successors(old, at)
    if encoding is None or not found:
        return found
    priced = snapshot.lookup([row.chunk_id for row in found.values()], encoding=encoding, at=at)
    if priced.unpriced:
        raise _unpriced(len(priced.unpriced), encoding)
    rows = {row.chunk_id: row for row in priced.rows}
    return {name: rows[row.chunk_id] for name, row in found.items()}


def _unpriced(count: int, encoding: str | None) -> RequestError:
    return RequestError(
        f"encoding: {count} chunks have no price in {encoding}; run "
        f"`chunkprep recount --encoding {encoding}`",
        "encoding",
    )


def _profile(store: Store, profiles: Profiles, options: PackOptions, facts: Facts) -> StoredProfile:
    """The profile of the rows' prices; the collection's where there are no rows.

    Raises RequestError where the rows are priced in several encodings: they would not add up.
    """
    groups: Iterable[Iterable[ChunkRow]] = (
        facts.rows.values(), facts.successors.values(), facts.pins
    )  # fmt: skip
    used = profiles.load({row.profile for rows in groups for row in rows})
    if not used:
        return profiles.add(store.profile(options.collection))
    encodings = sorted({profile.encoding for profile in used})
    if len(encodings) > 1:
        raise RequestError(
            f"encoding: the candidates are priced in {' and '.join(encodings)}; name one of them "
            f"(after `chunkprep recount --encoding NAME`)",
            "encoding",
        )
    return used[0]


def _text_rows(request: PackRequest, profile: StoredProfile, profiles: Profiles) -> list[ChunkRow]:
    counter = profiles.counter_of(profile.encoding)
    template, fingerprint = profile.template, profile.fingerprint
    return [
        text_row(pin, at, template=template, profile=fingerprint, counter=counter)
        for at, pin in enumerate(request.pin_text)
    ]
