"""The one predicate: SQL (both forms) and Python say the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import sqlalchemy as sa

from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.model import STATUSES, PreparedVersion
from chunkprep_store import Store
from chunkprep_store.clauses import in_force_clause, in_force_text
from chunkprep_store.tables import chunks

EDGES = (None, -5, 0, 5)


def test_sql_and_python_agree(store: Store, prepare: Callable[..., PreparedVersion]) -> None:
    cases = list(product(STATUSES, EDGES, EDGES))
    text = "\n\n".join(f"Part {n}." for n in range(len(cases)))
    store.write_version("c", prepare("a.md", text), now=1)
    with store.database.write() as connection:
        for ordinal, (status, start, end) in enumerate(cases):
            values = {"status": status, "effective_from": start, "effective_to": end}
            one = chunks.update().where(chunks.c.ordinal == ordinal)
            connection.execute(one.values(values))
    place = "?" if store.dialect == "sqlite" else "%s"
    raw = f"SELECT ordinal FROM chunks c WHERE {in_force_text('c', place)}"
    for at in (-6, -5, -4, 0, 4, 5, 6):
        expected = {n for n, case in enumerate(cases) if in_force(*case, at)}
        with store.database.snapshot() as connection:
            query = sa.select(chunks.c.ordinal).where(in_force_clause(chunks, at))
            assert set(connection.execute(query).scalars()) == expected
        assert {row[0] for row in store.database.rows(raw, [at, at])} == expected
