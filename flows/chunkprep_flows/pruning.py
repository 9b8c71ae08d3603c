"""Removing what nobody needs any more, by age in days."""

from __future__ import annotations

from typing import NamedTuple

from chunkprep_flows.interrupt import StoppedError, breakable, stop_asked
from chunkprep_flows.opened import now
from chunkprep_flows.wording import counted
from chunkprep_store import Store


class PruneReport(NamedTuple):
    """What was removed; `kept` as of `Pruned`, and `stopped` before the end."""

    versions: int
    chunks: int
    packs: int
    kept: int
    stopped: bool = False

    @property
    def headline(self) -> str:
        """What was removed, in words."""
        return (
            f"removed {counted(self.versions, 'version')} with {counted(self.chunks, 'chunk')} "
            f"and {counted(self.packs, 'pack')}"
        )


DAY = 86_400_000_000  # microseconds


def prune_collection(
    store: Store,
    collection: str,
    *,
    older_than: int,
    packs: int | None = None,
    even_if_logged: bool = False,
) -> PruneReport:
    """Remove versions out of force for `older_than` days and packs as old as `packs` days; give
    the room back. Versions that logged packs need stay unless `even_if_logged`.

    A stopped run goes on where it was; the room is given back by the next one that removes more.
    """
    moment = now()
    removed = store.prune(
        collection,
        ended_before=moment - older_than * DAY,
        packs_before=None if packs is None else moment - packs * DAY,
        with_packs=even_if_logged,
        now=moment,
        stop_asked=stop_asked,
    )
    stopped = stop_asked()
    if (removed.versions or removed.packs) and not stopped:
        try:
            with breakable("room was given back"):
                stopped = not store.vacuum(stop_asked)
        except StoppedError:
            stopped = True
    return PruneReport(*removed, stopped)
