"""Candidates by the database's own text search: any word of the query, the best first.

SQLite ranks by BM25 (FTS5), PostgreSQL by weighted frequency (ts_rank); both stem
English. Scores compare within one answer only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.clauses import in_force_clause, opens_clause
from chunkprep_store.tables import chunks


class SearchHit(NamedTuple):
    """A candidate; the higher the score, the better."""

    chunk_id: str
    score: float
    document: str
    version: int
    ordinal: int
    heading_path: str
    status: str


_WORD = re.compile(r"\w+")
_STOP_WORDS = (
    "a an and any are as at be been but by can could did do does for from had has have how i if in "
    "into is it its me my no not of on or our should so than that the their them then there these "
    "they this to was we were what when where which who why will with would you your"
)
_STOP = frozenset(_STOP_WORDS.split())
MAX_WORDS = 64


def query_words(query: str) -> list[str]:
    """The words worth looking for: without English stop words, unless there are no others."""
    words = list(dict.fromkeys(_WORD.findall(query.casefold())))
    telling = [word for word in words if word not in _STOP]
    return (telling or words)[:MAX_WORDS]


def search(
    connection: sa.Connection,
    collection_id: int,
    query: str,
    top: int,
    at: Moment,
    any_status: bool,
    access: Sequence[str] | None = None,
) -> list[SearchHit]:
    """The `top` chunks for a plain question; in force at `at` unless `any_status`. With `access`
    (labels): only those without labels, or with one of these.
    """
    words = query_words(query)
    if not words or top < 1:
        return []
    ranked = _sqlite if connection.dialect.name == "sqlite" else _postgresql
    source, match, score = ranked(words)
    statement = (
        sa.select(
            chunks.c.chunk_id,
            score.label("score"),
            *(chunks.c[name] for name in SearchHit._fields[2:]),
        )
        .select_from(source)
        .where(match, chunks.c.collection_id == collection_id)
        .order_by(sa.desc("score"), chunks.c.chunk_id)
        .limit(top)
    )
    if not any_status:
        statement = statement.where(in_force_clause(chunks, at))
    if access is not None:
        statement = statement.where(opens_clause(chunks, connection.dialect.name, access))
    return [SearchHit._make(row) for row in connection.execute(statement)]


Ranked = tuple[sa.FromClause, sa.ColumnElement[bool], sa.ColumnElement[Any]]


def _sqlite(words: list[str]) -> Ranked:
    index = sa.table("chunk_search", sa.column("rowid"))
    expression = " OR ".join(f'"{word}"' for word in words)
    match = sa.literal_column("chunk_search").op("MATCH")(expression)
    score = -sa.func.bm25(sa.literal_column("chunk_search"), 2.0, 1.0, type_=sa.Float)
    return index.join(chunks, chunks.c.id == index.c.rowid), match, score


def _postgresql(words: list[str]) -> Ranked:
    index = sa.table("chunk_search", sa.column("id"), sa.column("terms"))
    expression = " | ".join(f"'{word}'" for word in words)
    query = sa.func.to_tsquery("english", expression)
    score = sa.func.ts_rank(index.c.terms, query, 1, type_=sa.Float)
    source = index.join(chunks, chunks.c.id == index.c.id)
    return source, index.c.terms.op("@@")(query), sa.cast(score, sa.Float)
