"""Removing what nobody needs any more, by age in days."""

from __future__ import annotations

from typing import NamedTuple

from chunkprep_flows.interrupt import StoppedError, breakable, stop_asked
from chunkprep_flows.opened import now
from chunkprep_flows.wording import counted
from chunkprep_store import Store


class PruneReport(NamedTuple):
    """What was removed; `kept` as of `Pruned`, and `stopped` before the end. Of a dry run, what
    would be.
    """

    versions: int
    chunks: int
    packs: int
    kept: int
    stopped: bool = False
    dry_run: bool = False
    room_left: bool = False
    """It was stopped when all was removed, and the room not given back."""

    @property
    def headline(self) -> str:
        """What was removed, in words."""
        done = "would remove" if self.dry_run else "removed"
        return (
            f"{done} {counted(self.versions, 'version')} with {counted(self.chunks, 'chunk')} "
            f"and {counted(self.packs, 'pack')}"
        )

    @property
    def rest(self) -> str:
        """What was not removed, and why, in words."""
        if self.room_left:
            return "stopped before room was given back; the next prune that removes something does"
        if self.stopped:
            return "stopped, run it again to go on"
        done = "would keep" if self.dry_run else "kept"
        return f"{done} {counted(self.kept, 'version')} that logged packs need"


DAY = 86_400_000_000  # microseconds


def prune_collection(
    store: Store,
    collection: str,
    *,
    older_than: int,
    packs: int | None = None,
    even_if_logged: bool = False,
    dry_run: bool = False,
) -> PruneReport:
    """Remove versions out of force for `older_than` days and packs as old as `packs` days; give
    the room back. Versions that logged packs need stay unless `even_if_logged`. A `dry_run` only
    counts.

    A stopped run goes on where it was; the room is given back by the next one that removes more.
    """
    moment = now()
    ended = moment - older_than * DAY
    logged = None if packs is None else moment - packs * DAY
    if dry_run:
        found = store.prunable(
            collection, ended_before=ended, packs_before=logged, with_packs=even_if_logged
        )
        return PruneReport(*found, dry_run=True)
    removed = store.prune(
        collection,
        ended_before=ended,
        packs_before=logged,
        with_packs=even_if_logged,
        now=moment,
        stop_asked=stop_asked,
    )
    if stop_asked() or not (removed.versions or removed.packs):
        return PruneReport(*removed, stop_asked())
    try:
        with breakable("room was given back"):
            vacuumed = store.vacuum(stop_asked)
    except StoppedError:
        vacuumed = False
    return PruneReport(*removed, stopped=not vacuumed, room_left=not vacuumed)
