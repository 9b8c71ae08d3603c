"""Who may be packed at all: in force at a moment, and past the caller's filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from fnmatch import translate

import orjson

from chunkprep_ingest.lifecycle import moment, out_of_force_reason
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_packer.request import PackOptions

Judge = Callable[[ChunkRow], str | None]
"""Why a row may not be packed (a `Reason`), or None where it may."""

_NONE = "[]"  # a JSON column without entries


def since(row: ChunkRow) -> Moment:
    """The moment from which a row's text holds, however it is cut: effective_from, or when it was
    stored.
    """
    if row.held_from is not None:
        return row.held_from
    return row.stored_at if row.effective_from is None else row.effective_from


def reason_at(row: ChunkRow, at: Moment) -> str | None:
    """Why a row is not in force at `at`, or None where it is."""
    return out_of_force_reason(row.status, row.effective_from, row.effective_to, at)


def may_see(row: ChunkRow, access: frozenset[str]) -> bool:
    """Whether a caller with these labels may see the row: it has none, or shares one."""
    return row.access == _NONE or opens(access, orjson.loads(row.access))


def opens(labels: frozenset[str] | None, needed: Collection[str]) -> bool:
    """Whether a caller with these labels (None: every label) may see what needs one of `needed`;
    what needs none is for everybody.
    """
    return labels is None or not needed or not labels.isdisjoint(needed)


def judge_at(options: PackOptions, at: Moment) -> Judge:
    """The judge for one request: in force at `at` first, then access, then the other filters."""
    access = frozenset(options.access)
    passes = _filter(options)

    def judge(row: ChunkRow) -> str | None:
        reason = out_of_force_reason(row.status, row.effective_from, row.effective_to, at)
        if reason is not None:
            return reason
        if row.access != _NONE and not may_see(row, access):
            return "filtered"
        if passes is not None and not passes(row):
            return "filtered"
        return None

    return judge


def _filter(options: PackOptions) -> Callable[[ChunkRow], bool] | None:
    """Source, tag, authority and date as one test; None where none was asked for."""
    tests: list[Callable[[ChunkRow], bool]] = []
    if options.source:
        tests.append(_matches(options.source))
    if options.tag:
        tags = frozenset(options.tag)
        tests.append(lambda row: not tags.isdisjoint(orjson.loads(row.tags)))
    if options.min_authority is not None:
        least = options.min_authority
        tests.append(lambda row: row.authority >= least)
    if options.effective_after is not None:
        after = moment(options.effective_after)
        tests.append(lambda row: since(row) >= after)
    return (lambda row: all(test(row) for test in tests)) if tests else None


def _matches(globs: Iterable[str]) -> Callable[[ChunkRow], bool]:
    """Whether a row's source or document key matches one of the globs (case counts)."""
    match = re.compile("|".join(f"(?:{translate(glob)})" for glob in globs)).match
    return lambda row: (
        match(row.document) is not None
        or (row.source is not None and match(row.source) is not None)
    )
