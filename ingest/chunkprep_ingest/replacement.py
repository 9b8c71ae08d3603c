"""Which version of a document replaces which, and what that makes of each: pure decisions.

The whole standing of a document is worked out again from the facts of its versions whenever one
of them changes, so that no order of events can leave two versions in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from chunkprep_ingest.lifecycle import EffectiveRange, effective_range
from chunkprep_ingest.model import Moment, Status


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """What was decided about one version. Moments in microseconds UTC.

    `released_at` is when it stopped being a draft (None while it is one), `closes_at` an end set
    by a withdrawal, by its return to a draft, or by another document that supersedes this one.
    `recut_of` names the version whose text this one holds in other chunks, since `recut_at`.
    """

    version: int
    released_at: Moment | None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    edition: str | None = None
    closes_at: Moment | None = None
    withdrawn: bool = False
    superseded_elsewhere: bool = False
    restored: bool = False
    drafted: bool = False
    recut_of: int | None = None
    recut_at: Moment | None = None


class Standing(NamedTuple):
    """What follows for one version: its status and range, and the version that replaced it."""

    status: Status
    range: EffectiveRange
    successor: int | None


class Standings(NamedTuple):
    """By version number; `current` is the version that stands for the document."""

    of: dict[int, Standing]
    current: int


def settle(versions: Iterable[VersionFacts]) -> Standings:
    """The standing of every version of one document (at least one version).

    A text and its new cuts are one to whatever they replace: what was decided last of the newest
    cut holds for all, and the time in force is divided among them where they were cut.
    """
    cuts = cuts_of(versions)
    leads = {root: _lead(known) for root, known in cuts.items()}
    order = replacement_order(leads.values())
    of: dict[int, Standing] = {}
    for root, standing in _settled(leads, order).items():
        of |= _divided(cuts[root], standing)
    return Standings(of, cuts[_current(leads, order)][-1].version)


def cuts_of(versions: Iterable[VersionFacts]) -> dict[int, list[VersionFacts]]:
    """Versions that hold one text in other chunks, in order, by the number of the first."""
    cuts: dict[int, list[VersionFacts]] = {}
    first: dict[int, int] = {}
    for version in sorted(versions, key=lambda v: v.version):
        root = version.version if version.recut_of is None else first[version.recut_of]
        first[version.version] = root
        cuts.setdefault(root, []).append(version)
    return cuts


def _lead(cuts: Sequence[VersionFacts]) -> VersionFacts:
    """One version that stands for all cuts of a text."""
    return replace(cuts[-1], version=cuts[0].version, restored=cuts[0].restored)


def _settled(
    leads: Mapping[int, VersionFacts], order: Sequence[VersionFacts]
) -> dict[int, Standing]:
    of = {n: _draft_standing(v) for n, v in leads.items() if v.released_at is None}
    limit: Moment | None = None
    after: int | None = None
    for index in range(len(order) - 1, -1, -1):
        version = order[index]
        before = order[index - 1] if index else None
        following = order[index + 1].version if index + 1 < len(order) else None
        span = _range(version, before, limit)
        taken_back = _taken_back(version, span)
        successor = following if taken_back else after
        status = _status(version, following is None if version.drafted else after is None)
        of[version.version] = Standing(status, span, successor)
        if taken_back and version.drafted:
            continue
        after = version.version
        ends = [limit, version.closes_at if taken_back else span.start]
        limit = min((end for end in ends if end is not None), default=None)
    return of


def _taken_back(version: VersionFacts, span: EffectiveRange) -> bool:
    """Whether an announced version became a draft again, or was withdrawn, before its day: it ends
    nothing on that day. A draft leaves its predecessor open, a withdrawal is one of both.
    """
    decided = version.drafted or version.withdrawn
    return (
        decided
        and version.closes_at is not None
        and span.start is not None
        and version.closes_at <= span.start
    )


def _current(leads: Mapping[int, VersionFacts], order: Sequence[VersionFacts]) -> int:
    """The last that was released; where that is a draft again, the last of all."""
    return max(leads) if not order or order[-1].drafted else order[-1].version


def _divided(cuts: Sequence[VersionFacts], whole: Standing) -> dict[int, Standing]:
    """The standing of each cut: one after the other, within the range of the whole."""
    of: dict[int, Standing] = {}
    start, end = whole.range
    for cut, following in pairwise(cuts):
        at = following.recut_at or 0
        if whole.status == "draft" and cut.released_at is None:
            of[cut.version] = Standing("superseded", EffectiveRange(at, at), following.version)
            continue
        at = at if start is None else max(at, start)
        at = at if end is None else min(at, end)
        of[cut.version] = Standing("superseded", EffectiveRange(start, at), following.version)
        start = at
    of[cuts[-1].version] = Standing(whole.status, EffectiveRange(start, end), whole.successor)
    return of


def replacement_order(versions: Iterable[VersionFacts]) -> list[VersionFacts]:
    """Released versions, each replaced by the next: in order of release, but an older edition
    that arrives late stands before the newer ones.
    """
    released = (v for v in versions if v.released_at is not None)
    order: list[VersionFacts] = []
    for version in sorted(released, key=lambda v: (v.released_at, v.version)):
        at = len(order)
        while at and older_edition(version, order[at - 1]):
            at -= 1
        order.insert(at, version)
    return order


def older_edition(new: VersionFacts, other: VersionFacts) -> bool:
    """Whether `new` says of itself that it precedes `other`: by valid_from, else by edition.

    The same edition again is a correction, whatever its dates; what was restored by hand is meant
    to hold.
    """
    if new.restored:
        return False
    if new.edition is not None and new.edition == other.edition:
        return False
    if new.valid_from is not None and other.valid_from is not None:
        return new.valid_from < other.valid_from
    if new.edition is not None and other.edition is not None:
        return edition_precedes(new.edition, other.edition)
    return False


_NUMBER = re.compile(r"\d+")


def edition_precedes(one: str, two: str) -> bool:
    """Whether two editions of the same shape ("v1.9" and "v1.10", "2019" and "2024") are in order.

    Editions of different shapes are not comparable: False both ways.
    """
    if _NUMBER.sub("#", one.casefold()) != _NUMBER.sub("#", two.casefold()):
        return False
    numbers: Sequence[list[int]] = [[int(n) for n in _NUMBER.findall(e)] for e in (one, two)]
    return numbers[0] < numbers[1]


def _range(
    version: VersionFacts, before: VersionFacts | None, limit: Moment | None
) -> EffectiveRange:
    """A date that the predecessor had too announces nothing: a corrected or restored text holds
    from its release (or from that date, where it is still to come): the past is not rewritten.
    """
    released = version.released_at or 0
    start = version.valid_from
    inherited = version.restored or (before is not None and start == before.valid_from)
    if inherited and start is not None:
        start = max(start, released)
    return effective_range(
        valid_from=start,
        valid_to=version.valid_to,
        stored_at=released,
        first=before is None,
        successor_from=limit,
        withdrawn_at=version.closes_at,
    )


def _status(version: VersionFacts, last: bool) -> Status:
    if version.withdrawn:
        return "withdrawn"
    if last and version.drafted:
        return "draft"
    return "active" if last and not version.superseded_elsewhere else "superseded"


def _draft_standing(version: VersionFacts) -> Standing:
    """A draft that was never released has no end; one that was, has that of its time in force."""
    return Standing("draft", EffectiveRange(version.valid_from, None), None)


def takes_over(at: Moment, versions: Iterable[Standing], stands: bool) -> Moment | None:
    """From when a document replaces another one that it supersedes from `at` on, by the standings
    of its own versions: the first moment from `at` on at which one of them is in force.

    Where none is, it is `at` if the document `stands` (it has expired, say), and never (None) if
    it was taken back before its day: withdrawn, or a draft again.
    """
    starts = [
        at if start is None else max(at, start)
        for status, (start, end), _ in versions
        if (status != "draft" or end is not None)
        and (end is None or (end > at and (start is None or start < end)))
    ]
    return min(starts, default=at if stands else None)
