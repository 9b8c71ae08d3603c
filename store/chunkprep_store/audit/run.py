"""The audit: every check asked for, in one reading transaction, findings as they come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import Moment
from chunkprep_store.audit import (
    content,
    copies,
    decided,
    drift,
    editions,
    feed,
    index,
    logged,
    prices,
    served,
    sources,
    standing,
    successors,
    unreadable,
)
from chunkprep_store.audit.content import StoredChunk, StoredVersion
from chunkprep_store.audit.findings import CHECKS, Finding, finding
from chunkprep_store.audit.prices import Counters, Recount
from chunkprep_store.audit.remade import Remake
from chunkprep_store.audit.sources import Sources
from chunkprep_store.audit.stopped import UNREAD, cause
from chunkprep_store.rows import decode_text
from chunkprep_store.tables import chunks, elements, versions


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What to look for. `checks` None is all that the rest allows.

    `recount`: "all" chunks, or about so many; needs `counters`. `sources` and `index_ids` are
    what the checks of the same name compare with.
    """

    now: Moment
    checks: Collection[str] | None = None
    recount: Literal["all"] | int | None = None
    counters: Counters | None = None
    sources: Sources | None = None
    index_ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Refuse checks that do not exist, and a recount without counters."""
        unknown = set(self.checks or ()) - set(CHECKS)
        if unknown:
            raise RequestError(
                f"{sorted(unknown)[0]!r} is no check; use one of {', '.join(CHECKS)}", "checks"
            )
        if self.recount is not None and self.counters is None:
            raise RequestError("a recount needs the counters of its encodings", "counters")

    def wants(self, *checks: str) -> bool:
        """Whether any of these was asked for."""
        return self.checks is None or any(check in self.checks for check in checks)


def audit(
    connection: sa.Connection, collection_id: int, request: AuditRequest
) -> Iterator[Finding]:
    """Findings, by check; those on texts and prices last, version by version."""
    for names, check in _queries(connection, collection_id, request):
        asked = [name for name in names.split() if request.wants(name)]
        if asked:
            yield from _asked_for(asked, _to_its_end(asked[0], check))


Check = Callable[[], Iterator[Finding]]


def _to_its_end(name: str, check: Check) -> Iterator[Finding]:
    """A check's findings; a value that it cannot read ends it alone, loudly, not the audit."""
    try:
        yield from check()
    except UNREAD as error:
        text = f"the check {name} stopped at a value that cannot be read: {cause(error)}"
        yield finding("unreadable", "error", text)._replace(check=name)


def _asked_for(asked: Sequence[str], found: Iterator[Finding]) -> Iterator[Finding]:
    """The findings of the checks `asked` for. A row that could not be read was not checked: it is
    a finding of the first of them, where `unreadable` is not asked for.
    """
    for one in found:
        if one.check in asked:
            yield one
        elif one.check == "unreadable":
            yield one._replace(check=asked[0])


def _queries(
    connection: sa.Connection, number: int, request: AuditRequest
) -> Iterator[tuple[str, Check]]:
    """The checks, each after the names of all that it finds; first those that are queries."""
    now, listed, ids = request.now, request.sources, request.index_ids
    yield "unreadable", lambda: unreadable.unreadable(connection, number)
    yield "active_versions", lambda: standing.active_versions(connection, number)
    yield " ".join(copies.COPY_CHECKS), lambda: copies.copies(connection, number)
    yield " ".join(decided.DECIDED_CHECKS), lambda: decided.decided(connection, number)
    yield "successors", lambda: successors.successors(connection, number)
    yield "effective_ranges", lambda: standing.effective_ranges(connection, number)
    yield "effective_ranges", lambda: editions.editions(connection, number, now)
    yield "expired", lambda: standing.expired(connection, number, now)
    yield "not_yet_valid", lambda: standing.not_yet_valid(connection, number, now)
    yield "review_due", lambda: standing.review_due(connection, number, now)
    if listed is not None:
        yield "source_unreadable", lambda: sources.source_unreadable(connection, number, listed)
        yield "source_changed", lambda: sources.source_changed(connection, number, listed)
        yield "source_missing", lambda: sources.source_missing(connection, number, listed)
    yield "policy_drift", lambda: drift.policy_drift(connection, number)
    yield "profile_drift", lambda: drift.profile_drift(connection, number)
    yield "profile_drift", lambda: copies.partly_priced(connection, number)
    yield "low_coverage", lambda: drift.low_coverage(connection, number)
    yield "failing", lambda: drift.failing(connection, number)
    if ids is not None:
        yield "index_stale", lambda: index.index_stale(connection, number, now, ids)
        yield "index_missing", lambda: index.index_missing(connection, number, now, ids)
    yield "cap", lambda: prices.further_caps(connection, number)
    yield "change_feed", lambda: feed.change_feed(connection, number)
    yield "served_stale", lambda: served.served_stale(connection, number)
    recent = None if request.recount == "all" else now - logged.RECENT
    yield "pack_log", lambda: logged.pack_log(connection, number, recent)
    yield _OF_CONTENTS, lambda: _contents(connection, number, request)


_OF_CONTENTS = "wholeness cap boundaries count_drift remade"


def _contents(
    connection: sa.Connection, collection_id: int, request: AuditRequest
) -> Iterator[Finding]:
    """The checks on texts and prices; memory holds one version at a time."""
    recount = _recount(connection, collection_id, request)
    for version in stored_contents(connection, collection_id):
        found = [f for check in (content.wholeness, content.cap) for f in check(version)]
        costs, made = recount(version, found) if recount is not None else ([], [])
        if not found:
            costs = costs or list(content.price_sum(version))
        drifted = {f.chunk_id for f in costs}
        bounds = content.without_price(content.boundaries(version), drifted)
        yield from (*found, *costs, *bounds, *made)


Counted = Callable[[StoredVersion, list[Finding]], tuple[list[Finding], list[Finding]]]
"""What a recount finds in a version, given what was found: of costs, and of chunks made again."""


def _recount(
    connection: sa.Connection, collection_id: int, request: AuditRequest
) -> Counted | None:
    if request.recount is None or request.counters is None:
        return None
    if not request.wants("count_drift", "remade"):
        return None
    every = 1
    if request.recount != "all":
        total = sa.select(sa.func.count()).where(chunks.c.collection_id == collection_id)
        every = max(1, (connection.execute(total).scalar() or 0) // max(1, request.recount))
    counted = Recount(connection, request.counters, every)
    alone = not (request.wants("unreadable") and request.wants("count_drift"))
    remake = Remake(connection, collection_id, request.counters, alone=alone)

    def of(version: StoredVersion, found: list[Finding]) -> tuple[list[Finding], list[Finding]]:
        chosen = counted.choose(version)
        costs = list(counted.count_drift(version, chosen))
        if not chosen or any(f.check == "wholeness" for f in found):
            return costs, []
        named = {f.chunk_id for f in (*found, *costs)} - {None}
        return costs, [f for f in remake.remade(version) if f.chunk_id not in named]

    return of


def stored_contents(connection: sa.Connection, collection_id: int) -> Iterator[StoredVersion]:
    """Every version that still holds its content, with its chunks in order."""
    caps = prices.policy_caps(connection)
    owners = standing.stored_versions(
        collection_id,
        versions.c.id,
        versions.c.version,
        versions.c.chunks,
        versions.c.tokens,
        versions.c.policy,
        elements.c.payload,
    ).outerjoin(elements, elements.c.version_id == versions.c.id)
    groups = groupby(_stored_chunks(connection, collection_id), key=itemgetter(0))
    owner, group = next(groups, (None, iter(())))
    for row in connection.execute(owners.order_by(versions.c.id), execution_options=_STREAM):
        found: tuple[StoredChunk, ...] = ()
        while owner is not None and owner < row.id:
            owner, group = next(groups, (None, iter(())))
        if owner == row.id:
            found = tuple(group)
            owner, group = next(groups, (None, iter(())))
        text, trouble = _text_of(row.payload)
        yield StoredVersion(
            row.document,
            row.version,
            row.chunks,
            row.tokens,
            caps.get(row.policy),
            text,
            found,
            trouble,
        )


_STREAM = {"yield_per": 200}


def _text_of(payload: bytes | None) -> tuple[str | None, str]:
    """A version's text, or why there is none."""
    if payload is None:
        return None, "the version's elements are gone"
    try:
        return decode_text(payload), ""
    except UNREAD as error:
        return None, f"the version's elements cannot be read: {cause(error)}"


def _stored_chunks(connection: sa.Connection, collection_id: int) -> Iterator[StoredChunk]:
    columns = [chunks.c["id" if name == "row" else name] for name in StoredChunk._fields]
    query = (
        sa.select(*columns)
        .where(chunks.c.collection_id == collection_id)
        .order_by(chunks.c.version_id, chunks.c.ordinal)
    )
    for row in connection.execute(query, execution_options=_STREAM):
        yield StoredChunk._make(row)
