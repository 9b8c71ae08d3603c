"""The SQL twins of two predicates: `in_force` of chunkprep_ingest.lifecycle, and `opens` of
chunkprep_packer.eligibility.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.rows import to_json


def in_force_clause(table: sa.FromClause, at: Moment) -> sa.ColumnElement[bool]:
    """Rows of `versions` or `chunks` (or an alias of one) that are in force at `at`."""
    c = table.c
    return sa.and_(
        sa.or_(c.status != "draft", c.effective_to.is_not(None)),
        sa.or_(c.effective_from.is_(None), c.effective_from <= at),
        sa.or_(c.effective_to.is_(None), c.effective_to > at),
    )


def in_force_text(alias: str, placeholder: str) -> str:
    """The same for a driver's own statement; `at` is bound twice."""
    return (
        f"({alias}.status <> 'draft' OR {alias}.effective_to IS NOT NULL) "
        f"AND ({alias}.effective_from IS NULL OR {alias}.effective_from <= {placeholder}) "
        f"AND ({alias}.effective_to IS NULL OR {alias}.effective_to > {placeholder})"
    )


def opens_clause(
    table: sa.FromClause, dialect: str, labels: Collection[str]
) -> sa.ColumnElement[bool]:
    """Rows of `versions` or `chunks` that a caller with these labels may see: those without labels,
    or with one of these. Labels stand in the column as JSON texts.
    """
    place = sa.func.instr if dialect == "sqlite" else sa.func.strpos
    shared = [place(table.c.access, to_json([label])[1:-1]) > 0 for label in sorted(labels)]
    return sa.or_(table.c.access == "[]", *shared)
