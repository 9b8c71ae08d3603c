"""The one lookup that packing needs: rows by id and whole pinned documents, in one statement.

Statements are in the driver's own words: SQLAlchemy's result rows would cost more than the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import orjson

from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_store.clauses import in_force_text

Run = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a statement in the driver's own words and gives its rows."""

_PRICED = ("block_tokens", "header_tokens", "delimiter_tokens", "boundaries", "profile")


class Lookup(NamedTuple):
    """`rows` in no order; `pinned` by document, in force, in order of the ordinal.

    `unpriced` are chunk ids that exist but have no price in the encoding asked for.
    """

    rows: list[ChunkRow]
    pinned: dict[str, list[ChunkRow]]
    unpriced: tuple[str, ...] = ()


class Dialect(NamedTuple):
    """Where the two databases differ: placeholder, and a list of texts as a table `(value)`."""

    placeholder: str
    values: str


SQLITE = Dialect("?", "SELECT value FROM json_each(?)")
POSTGRESQL = Dialect("%s", "SELECT unnest(%s::text[])")
DIALECTS = {"sqlite": SQLITE, "postgresql": POSTGRESQL}


def _columns(priced: bool) -> str:
    """The fields of ChunkRow; `priced`: from the further price where the profile's encoding is
    another one.
    """

    def column(name: str) -> str:
        if not priced:
            return f"c.{name}"
        if name == "header":
            further = "COALESCE(p.header, c.header)"
        elif name in _PRICED:
            further = f"p.{name}"
        else:
            return f"c.{name}"
        return f"CASE WHEN f.encoding = w.encoding THEN c.{name} ELSE {further} END"

    return ", ".join(column(name) for name in ChunkRow._fields)


def _source(dialect: Dialect, priced: bool, joins: str) -> str:
    """`joins` starts FROM with what leads to chunks `c`."""
    if not priced:
        return f"FROM {joins}"
    at = "CAST(? AS TEXT)" if dialect is SQLITE else "%s::text"
    return (
        f"FROM (SELECT {at} AS encoding) w CROSS JOIN {joins} "
        "LEFT JOIN profiles f ON f.fingerprint = c.profile "
        "LEFT JOIN chunk_prices p ON p.chunk_row = c.id AND p.encoding = w.encoding"
    )


def _build(dialect: Dialect, priced: bool, pins: bool) -> str:
    place = dialect.placeholder
    flag = ", 0" if pins else ""
    if dialect is SQLITE:
        by_id = "json_each(?) j CROSS JOIN chunks c ON c.chunk_id = j.value"
        where = f"c.collection_id = {place}"
    else:
        by_id, where = "chunks c", "c.chunk_id = ANY(%s) AND c.collection_id = %s"
    statement = f"SELECT {_columns(priced)}{flag} {_source(dialect, priced, by_id)} WHERE {where}"
    if pins:
        owned = (
            "documents d JOIN versions v ON v.document_id = d.id "
            "JOIN chunks c ON c.version_id = v.id"
        )
        statement += (
            f" UNION ALL SELECT {_columns(priced)}, 1 {_source(dialect, priced, owned)} "
            f"WHERE d.collection_id = {place} AND d.document IN ({dialect.values}) "
            f"AND {in_force_text('c', place)}"
        )
    return statement


_STATEMENTS = {
    (name, priced, pins): _build(dialect, priced, pins)
    for name, dialect in DIALECTS.items()
    for priced in (False, True)
    for pins in (False, True)
}
_WIDTH = len(ChunkRow._fields)
_BLOCK_TOKENS = ChunkRow._fields.index("block_tokens")


def lookup(
    run: Run,
    dialect: str,
    collection_id: int,
    chunk_ids: Sequence[str],
    *,
    encoding: str | None,
    documents: Sequence[str],
    at: Moment,
) -> Lookup:
    """Rows of `chunk_ids`, whatever their standing, and of pinned `documents` in force at `at`."""
    pack = _json if dialect == "sqlite" else list
    asked = [] if encoding is None else [encoding]
    parameters: list[object] = [*asked, pack(chunk_ids), collection_id]
    if documents:
        parameters += [*asked, collection_id, pack(documents), at, at]
    statement = _STATEMENTS[dialect, encoding is not None, bool(documents)]
    found = run(statement, parameters)
    if encoding is None and not documents:
        return Lookup(list(map(ChunkRow._make, found)), {})
    return _sorted_out(found)


def _json(texts: Sequence[str]) -> str:
    return orjson.dumps(list(texts)).decode()


def _sorted_out(found: list[tuple[Any, ...]]) -> Lookup:
    rows: list[ChunkRow] = []
    pinned: dict[str, list[ChunkRow]] = {}
    unpriced: list[str] = []
    for values in found:
        row = ChunkRow._make(values[:_WIDTH])
        if values[_BLOCK_TOKENS] is None:
            unpriced.append(row.chunk_id)
        elif len(values) > _WIDTH and values[_WIDTH]:
            pinned.setdefault(row.document, []).append(row)
        else:
            rows.append(row)
    for group in pinned.values():
        group.sort(key=lambda r: r.ordinal)
    return Lookup(rows, pinned, tuple(sorted(set(unpriced))))


def _chain(dialect: Dialect) -> str:
    """Follow superseded_by from each id until a chunk is in force; the depth ends a loop made
    by hand.
    """
    place = dialect.placeholder
    ids = (
        "SELECT j.value, j.value, 0 FROM json_each(?) j"
        if dialect is SQLITE
        else "SELECT u.id, u.id, 0 FROM unnest(%s::text[]) AS u(id)"
    )
    steps = (
        "SELECT h.origin, c.superseded_by, h.depth + 1 FROM chain h "  # noqa: S608
        "JOIN chunks c ON c.chunk_id = h.chunk_id "
        "WHERE c.superseded_by IS NOT NULL AND h.depth < 1000 "
        f"AND NOT (h.depth > 0 AND {in_force_text('c', place)})"
    )
    return (
        f"WITH RECURSIVE chain(origin, chunk_id, depth) AS ({ids} UNION ALL {steps}) "  # noqa: S608
        f"SELECT {_columns(False)}, h.origin, h.depth FROM chain h "
        "JOIN chunks c ON c.chunk_id = h.chunk_id "
        f"WHERE h.depth > 0 AND c.collection_id = {place} AND {in_force_text('c', place)} "
        "ORDER BY h.depth"
    )


_CHAINS = {name: _chain(dialect) for name, dialect in DIALECTS.items()}


def successors(
    run: Run, dialect: str, collection_id: int, chunk_ids: Sequence[str], at: Moment
) -> dict[str, ChunkRow]:
    """By old id, the first chunk in force at `at` along its chain of successors, if any."""
    ids: object = _json(chunk_ids) if dialect == "sqlite" else list(chunk_ids)
    parameters = [ids, at, at, collection_id, at, at]
    found: dict[str, ChunkRow] = {}
    for values in run(_CHAINS[dialect], parameters):
        found.setdefault(values[_WIDTH], ChunkRow._make(values[:_WIDTH]))
    return found
