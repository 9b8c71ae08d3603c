"""The list of logged packs: page by page back in time, of one day, or by the start of an id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_store import PackLine, PackQuery, Store
from chunkprep_store.packlog_listing import Direction, Place

LISTED = 100
"""Packs on one page of the list."""

_PLACE = re.compile(r"(\d{1,18})-(\d{1,18})")


class Wanted(NamedTuple):
    """What a reader asks of the list: ids that begin with `find`, packed on `day` (UTC), and the
    page after, or before, a pack that another page showed.
    """

    find: str = ""
    day: date | None = None
    place: str = ""
    direction: Direction = "after"


ALL = Wanted()


def wanted_list(query: Mapping[str, str]) -> Wanted:
    """What the address asks for. Raises RequestError."""
    find, day = query.get("find", "").strip(), query.get("day", "").strip()
    before = query.get("before", "")
    place = before or query.get("after", "")
    for name, text in (("find", find), ("before" if before else "after", place)):
        if text and not text.isprintable():
            raise RequestError(f"{name}: {text[:40]!r} is in no pack's id", name)
    return Wanted(find, _day(day), place, "before" if before else "after")


def _day(given: str) -> date | None:
    if not given:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise RequestError(f"day: {given[:40]!r} is no day; write 2026-11-30", "day") from None


def pack_list(
    store: Store, collection: str, wanted: Wanted = ALL, *, since: Moment | None = None
) -> dict[str, Any]:
    """LISTED packs, and how many there are: `logged` in all (from `since` on), `found` of those
    asked for. `previous` and `next` name the place where a page beside this one starts, or None.
    """
    query = _query(wanted, since)
    place = _place(wanted, query)
    lines = store.pack_lines(
        collection, query, limit=LISTED + 1, place=place, direction=wanted.direction
    )
    back, more = wanted.direction == "before", len(lines) > LISTED
    shown = lines[-LISTED:] if back else lines[:LISTED]
    logged = found = store.pack_count(collection, PackQuery(since))
    if query != PackQuery(since):
        alone = place is None and not more
        found = len(shown) if alone else store.pack_count(collection, query)
    return {
        "collection": collection,
        "find": wanted.find,
        "day": None if wanted.day is None else wanted.day.isoformat(),
        "by_id": query.by_id,
        "logged": logged,
        "found": found,
        "previous": _name(shown[0], query) if shown and (more if back else place) else None,
        "next": _name(shown[-1], query) if shown and (more or back) else None,
        "packs": [_record(line) for line in shown],
    }


def _query(wanted: Wanted, since: Moment | None) -> PackQuery:
    if wanted.day is None:
        return PackQuery(since, None, wanted.find)
    start = datetime(wanted.day.year, wanted.day.month, wanted.day.day, tzinfo=UTC)
    first = round((start - _EPOCH) / _MICROSECOND)
    return PackQuery(max(first, since or first), first + _DAY, wanted.find)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000  # microseconds


def _place(wanted: Wanted, query: PackQuery) -> Place | None:
    if not wanted.place or query.by_id:
        return wanted.place or None
    found = _PLACE.fullmatch(wanted.place)
    if found is None:
        raise RequestError(
            f"{wanted.direction}: {wanted.place[:40]!r} is no place in the list", wanted.direction
        )
    return int(found[1]), int(found[2])


def _name(line: PackLine, query: PackQuery) -> str:
    return line.request_id if query.by_id else f"{line.at}-{line.number}"


def _record(line: PackLine) -> dict[str, Any]:
    return {
        "request_id": line.request_id,
        "at": iso(line.at),
        "slot": line.slot,
        "used_tokens": line.used_tokens,
        "fill": round(line.used_tokens / line.slot, 3),
        "warnings": line.warnings,
    }
