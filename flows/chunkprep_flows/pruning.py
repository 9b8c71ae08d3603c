"""Removing what nobody needs any more, by age in days."""

from __future__ import annotations

from chunkprep_flows.opened import now
from chunkprep_store import Pruned, Store

DAY = 86_400_000_000  # microseconds


def prune_collection(
    store: Store,
    collection: str,
    *,
    older_than: int,
    packs: int | None = None,
    even_if_logged: bool = False,
) -> Pruned:
    """Remove versions out of force for `older_than` days and packs as old as `packs` days; give
    the room back. Versions that logged packs need stay unless `even_if_logged`.
    """
    moment = now()
    removed = store.prune(
        collection,
        ended_before=moment - older_than * DAY,
        packs_before=None if packs is None else moment - packs * DAY,
        with_packs=even_if_logged,
        now=moment,
    )
    if removed.versions or removed.packs:
        store.vacuum()
    return removed
