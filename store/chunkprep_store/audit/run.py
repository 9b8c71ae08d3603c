"""The audit: every check asked for, in one reading transaction, findings as they come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import Moment
from chunkprep_store.audit import (
    content,
    drift,
    index,
    prices,
    served,
    sources,
    standing,
    successors,
)
from chunkprep_store.audit.content import StoredChunk, StoredVersion
from chunkprep_store.audit.findings import CHECKS, Finding
from chunkprep_store.audit.prices import Counters, Recount
from chunkprep_store.audit.sources import Sources
from chunkprep_store.rows import decode_elements
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
    for name, check in _queries(connection, collection_id, request):
        if request.wants(name):
            yield from check()
    if request.wants("cap", "boundaries", "wholeness", "count_drift"):
        yield from _contents(connection, collection_id, request)


Check = Callable[[], Iterator[Finding]]


def _queries(
    connection: sa.Connection, number: int, request: AuditRequest
) -> Iterator[tuple[str, Check]]:
    """The checks that are queries, by name."""
    now, listed, ids = request.now, request.sources, request.index_ids
    yield "active_versions", lambda: standing.active_versions(connection, number)
    yield "successors", lambda: successors.successors(connection, number)
    yield "effective_ranges", lambda: standing.effective_ranges(connection, number)
    yield "expired", lambda: standing.expired(connection, number, now)
    yield "not_yet_valid", lambda: standing.not_yet_valid(connection, number, now)
    yield "review_due", lambda: standing.review_due(connection, number, now)
    if listed is not None:
        yield "source_unreadable", lambda: sources.source_unreadable(connection, number, listed)
        yield "source_changed", lambda: sources.source_changed(connection, number, listed)
        yield "source_missing", lambda: sources.source_missing(connection, number, listed)
    yield "policy_drift", lambda: drift.policy_drift(connection, number)
    yield "profile_drift", lambda: drift.profile_drift(connection, number)
    yield "low_coverage", lambda: drift.low_coverage(connection, number)
    yield "failing", lambda: drift.failing(connection, number)
    if ids is not None:
        yield "index_stale", lambda: index.index_stale(connection, number, now, ids)
        yield "index_missing", lambda: index.index_missing(connection, number, now, ids)
    yield "cap", lambda: prices.further_caps(connection, number)
    yield "served_stale", lambda: served.served_stale(connection, number)


def _contents(
    connection: sa.Connection, collection_id: int, request: AuditRequest
) -> Iterator[Finding]:
    """The checks on texts and prices; memory holds one version at a time."""
    recount = _recount(connection, collection_id, request)
    for version in stored_contents(connection, collection_id):
        found = [f for check in (content.wholeness, content.cap) for f in check(version)]
        costs = list(recount.count_drift(version)) if recount is not None else []
        if not found and request.recount != "all":
            costs = costs or list(content.price_sum(version))
        drifted = {f.chunk_id for f in costs}
        bounds = content.without_price(content.boundaries(version), drifted)
        yield from (f for f in (*found, *costs, *bounds) if request.wants(f.check))


def _recount(
    connection: sa.Connection, collection_id: int, request: AuditRequest
) -> Recount | None:
    if request.recount is None or request.counters is None or not request.wants("count_drift"):
        return None
    every = 1
    if request.recount != "all":
        total = sa.select(sa.func.count()).where(chunks.c.collection_id == collection_id)
        every = max(1, (connection.execute(total).scalar() or 0) // max(1, request.recount))
    return Recount(connection, request.counters, every)


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
        text = decode_elements(row.payload)[0] if row.payload is not None else None
        yield StoredVersion(
            row.document, row.version, row.chunks, row.tokens, caps.get(row.policy), text, found
        )


_STREAM = {"yield_per": 200}


def _stored_chunks(connection: sa.Connection, collection_id: int) -> Iterator[StoredChunk]:
    columns = [chunks.c["id" if name == "row" else name] for name in StoredChunk._fields]
    query = (
        sa.select(*columns)
        .where(chunks.c.collection_id == collection_id)
        .order_by(chunks.c.version_id, chunks.c.ordinal)
    )
    for row in connection.execute(query, execution_options=_STREAM):
        yield StoredChunk._make(row)
