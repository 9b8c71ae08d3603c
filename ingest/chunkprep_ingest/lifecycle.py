"""When a version is in force: the one rule, as functions of values.

Moments are integer microseconds UTC; None is open (minus infinity as a start, plus infinity as an
end). The SQL twin of `in_force` is `chunkprep_store.clauses.in_force_clause`; a test holds them
equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple

from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.model import Moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EffectiveRange(NamedTuple):
    """[start, end) in microseconds UTC; None is open."""

    start: Moment | None
    end: Moment | None


def in_force(
    status: str, effective_from: Moment | None, effective_to: Moment | None, at: Moment
) -> bool:
    """Whether a version is in force: effective_from <= at < effective_to, and it is no draft, or
    was none until effective_to (a draft that was never released has no end).
    """
    return (
        (status != "draft" or effective_to is not None)
        and (effective_from is None or effective_from <= at)
        and (effective_to is None or at < effective_to)
    )


def out_of_force_reason(
    status: str, effective_from: Moment | None, effective_to: Moment | None, at: Moment
) -> str | None:
    """Why it is not in force at `at` (the reason that a decision gives), or None where it is."""
    if in_force(status, effective_from, effective_to, at):
        return None
    if status == "draft":
        return "draft"
    if effective_from is not None and at < effective_from:
        return "not_yet_valid"
    return {"superseded": "superseded", "withdrawn": "withdrawn"}.get(status, "expired")


def effective_range(
    *,
    valid_from: Moment | None,
    valid_to: Moment | None,
    stored_at: Moment,
    first: bool,
    successor_from: Moment | None = None,
    withdrawn_at: Moment | None = None,
) -> EffectiveRange:
    """The effective range of one version.

    From valid_from if given, else the moment it was stored (open for a first version); to the
    earliest of valid_to, its successor's start and its withdrawal. An end before the start gives
    an empty range [start, start).
    """
    start = valid_from if valid_from is not None else (None if first else stored_at)
    ends = [end for end in (valid_to, successor_from, withdrawn_at) if end is not None]
    end = min(ends) if ends else None
    if start is not None and end is not None and end < start:
        end = start
    return EffectiveRange(start, end)


def overlapping(ranges: Iterable[EffectiveRange]) -> list[tuple[EffectiveRange, EffectiveRange]]:
    """Pairs of neighbours (by start) that share a moment; empty ranges share none."""
    low = -(1 << 63)
    alive = sorted(
        (r for r in ranges if r.start is None or r.end is None or r.start < r.end),
        key=lambda r: low if r.start is None else r.start,
    )
    return [
        (a, b) for a, b in pairwise(alive) if a.end is None or b.start is None or b.start < a.end
    ]


def moment(value: datetime | date | str | int) -> Moment:
    """Microseconds UTC of a datetime, a date, an ISO 8601 text or a moment.

    A date is midnight UTC, a time without a zone is UTC. Raises ChunkprepError for other text.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise ChunkprepError(
                f"{value!r} is no time: {error}; write ISO 8601, for example 2026-03-01 or "
                f"2026-03-01T09:00:00+01:00"
            ) from error
    elif not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return (value - _EPOCH) // timedelta(microseconds=1)


def iso(value: Moment | None) -> str | None:
    """ISO 8601 in UTC ("2026-03-01T09:00:00Z"; microseconds only where there are some), or None."""
    if value is None:
        return None
    text = (_EPOCH + timedelta(microseconds=value)).isoformat()
    return text.removesuffix("+00:00") + "Z"
