"""The SQL twins of the one predicate, `chunkprep_ingest.lifecycle.in_force`."""

from __future__ import annotations

import sqlalchemy as sa

from chunkprep_ingest.model import Moment


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
