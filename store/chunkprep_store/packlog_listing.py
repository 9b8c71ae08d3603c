"""The log of packs as a list to look through: a page of it by time, or by the start of an id.

Neither reads the packs before the page, nor what a pack holds: a log grows to millions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.packlog import read_warnings
from chunkprep_store.tables import packs

LAST = "\U0010ffff"
"""Sorts after whatever may follow the start of an id."""


@dataclass(frozen=True, slots=True)
class PackQuery:
    """Which packs: packed from `since` on, before `until` (moments), of ids that begin so."""

    since: Moment | None = None
    until: Moment | None = None
    begins: str = ""

    @property
    def by_id(self) -> bool:
        """Whether the list is in order of the id; else the newest is first."""
        return bool(self.begins) and self.since is None and self.until is None


EVERY_PACK = PackQuery()


class PackLine(NamedTuple):
    """One pack of the list; `number` is its row, `warnings` how many it has."""

    number: int
    request_id: str
    at: Moment
    slot: int
    used_tokens: int
    warnings: int


Place = tuple[Moment, int] | str
"""Where a page starts: a pack's moment and row, or its id where the list is by id."""
Direction = Literal["after", "before"]


def count_packs(connection: sa.Connection, collection_id: int, query: PackQuery) -> int:
    """How many packs are asked for."""
    count = sa.select(sa.func.count()).select_from(packs)
    found = connection.execute(count.where(*_wanted(connection, collection_id, query)))
    return int(found.scalar_one())


def list_packs(
    connection: sa.Connection,
    collection_id: int,
    query: PackQuery,
    limit: int,
    place: Place | None,
    direction: Direction,
) -> list[PackLine]:
    """At most `limit` packs, those next to a place in the list's order on that side of it (None:
    the first ones).
    """
    wanted = _wanted(connection, collection_id, query)
    if query.by_id:
        found = _by_id(connection, collection_id, wanted, limit, place, direction)
    else:
        found = _by_time(connection, wanted, limit, place, direction)
    return found[::-1] if direction == "before" else found


def _wanted(
    connection: sa.Connection, collection_id: int, query: PackQuery
) -> list[sa.ColumnElement[bool]]:
    clauses = [packs.c.collection_id == collection_id]
    if query.since is not None:
        clauses.append(packs.c.at >= query.since)
    if query.until is not None:
        clauses.append(packs.c.at < query.until)
    if query.begins and connection.dialect.name == "sqlite":  # LIKE would not see the index
        clauses.append(packs.c.request_id >= query.begins)
        clauses.append(packs.c.request_id < query.begins + LAST)
    elif query.begins:
        clauses.append(packs.c.request_id.startswith(query.begins, autoescape=True))
    return clauses


def _by_time(
    connection: sa.Connection,
    wanted: list[sa.ColumnElement[bool]],
    limit: int,
    place: Place | None,
    direction: Direction,
) -> list[PackLine]:
    at, number = packs.c.at, packs.c.id
    query = sa.select(*_COLUMNS).where(*wanted)
    older = direction == "after"
    if isinstance(place, tuple):
        moment, row = place
        query = query.where(
            at <= moment if older else at >= moment,
            sa.or_(at != moment, number < row if older else number > row),
        )
    order = (at.desc(), number.desc()) if older else (at, number)
    return _lines(connection, query.order_by(*order).limit(limit))


def _by_id(
    connection: sa.Connection,
    collection_id: int,
    wanted: list[sa.ColumnElement[bool]],
    limit: int,
    place: Place | None,
    direction: Direction,
) -> list[PackLine]:
    """First the ids, which an index holds, then their packs."""
    name, later = packs.c.request_id, direction == "after"
    query = sa.select(name).where(*wanted)
    if isinstance(place, str):
        query = query.where(name > place if later else name < place)
    ids = connection.execute(query.order_by(name if later else name.desc()).limit(limit)).scalars()
    order = {found: at for at, found in enumerate(ids)}
    there = packs.c.collection_id == collection_id, name.in_(list(order))
    lines = _lines(connection, sa.select(*_COLUMNS).where(*there))
    return sorted(lines, key=lambda line: order[line.request_id])


_COLUMNS = (
    packs.c.id, packs.c.request_id, packs.c.at, packs.c.slot, packs.c.used_tokens, packs.c.warnings,
)  # fmt: skip


def _lines(connection: sa.Connection, query: sa.Executable) -> list[PackLine]:
    return [
        PackLine(
            row.id,
            row.request_id,
            row.at,
            row.slot,
            row.used_tokens,
            len(read_warnings(row.warnings)),
        )
        for row in connection.execute(query)
    ]
