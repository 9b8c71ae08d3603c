"""A document as the one that supersedes others: what it declares, and from when it takes over."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment
from chunkprep_ingest.replacement import takes_over
from chunkprep_store.history import VersionRow, versions_of
from chunkprep_store.links import Link
from chunkprep_store.tables import documents


class Successor(NamedTuple):
    """A document that supersedes another, as it is: `current` is None where it was erased."""

    current: VersionRow | None
    history: list[VersionRow]
    named: dict[int, frozenset[str]]
    """What each version declares that the document supersedes, by its number."""

    @property
    def stands(self) -> bool:
        """Whether it was not taken back: it is, or was replaced in its turn."""
        return self.current is not None and self.current.status in ("active", "superseded")

    def takes_over(self, link: Link) -> Moment | None:
        """From when it replaces the document that the link names; None: never."""
        standings = (row.standing for row in self._saying(link.old, link))
        return takes_over(link.effective_from, standings, self.stands)

    def declared(self, at: Moment) -> set[str]:
        """What it supersedes as its metadata says: of the version that stands for it, and of those
        that are in force still or will be.
        """
        if not self.stands:
            return set()
        return {key for row in self.history if self._counts(row, at) for key in self._names(row)}

    def start(self, key: str, link: Link | None, at: Moment) -> Moment:
        """From when it supersedes a document that it declares: the earliest valid_from of the
        versions that say so, without one since it was first declared.
        """
        known = at if link is None else min(at, link.effective_from)
        by_hand = link is not None and link.origin == "hand"
        saying = self._saying(key, link)
        starts = [
            known if row.valid_from is None else max(row.valid_from, row.effective_from or _EVER)
            for row in saying
            if row is self.current or (self._counts(row, at) and not by_hand)
        ]
        others = [row for row in saying if row is not self.current]
        if link is not None and any(_held(row, link.effective_from, at) for row in others):
            starts.append(link.effective_from)
        return min(starts, default=known)

    def _saying(self, key: str, link: Link | None) -> list[VersionRow]:
        """The versions by which it supersedes a document: by hand, each of them does."""
        saying = [row for row in self.history if key in self._names(row)]
        by_hand = link is not None and link.origin == "hand"
        return self.history if by_hand or not saying else saying

    def says(self, key: str) -> bool:
        """Whether the version that stands for it declares that it supersedes a document."""
        return self.current is not None and key in self._names(self.current)

    def _names(self, row: VersionRow) -> frozenset[str]:
        return self.named[row.version]

    def _counts(self, row: VersionRow, at: Moment) -> bool:
        start, end = row.effective_from, row.effective_to
        still = end is None or (end > at and (start is None or start < end))
        return row is self.current or (still and row.status != "draft")


_EVER = -(1 << 63)


def _supersedes(row: VersionRow) -> frozenset[str]:
    return frozenset(Metadata.model_validate_json(row.metadata).supersedes)


def _held(row: VersionRow, since: Moment, at: Moment) -> bool:
    """Whether it has been in force between two moments."""
    start, end = row.effective_from, row.effective_to
    ever = end is None or start is None or start < end
    never_released = row.status == "draft" and end is None
    begun = start is None or start <= at
    return ever and begun and not never_released and (end is None or end > since)


def successor(connection: sa.Connection, document_id: int) -> Successor:
    """A document as the one that supersedes others."""
    number = connection.scalar(
        sa.select(documents.c.current_version).where(documents.c.id == document_id)
    )
    history = versions_of(connection, document_id)
    current = next((row for row in history if row.version == number), None)
    return Successor(current, history, {row.version: _supersedes(row) for row in history})


Known = dict[int, Successor]
"""Documents that supersede others as they were read already, by their row numbers."""
