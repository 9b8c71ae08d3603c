"""Keeping a store in order: audit, prune, erase, vacuum."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal

from chunkprep_ingest.model import Moment
from chunkprep_store import audit, erase, keys, prune
from chunkprep_store.audit import AuditRequest, Counters, Finding, Sources
from chunkprep_store.erase import Erased
from chunkprep_store.keys import ApiKey
from chunkprep_store.opened import Opened
from chunkprep_store.prune import Pruned


def _never() -> bool:
    return False


class Upkeep(Opened):
    """The audit, making room, and the service's API keys."""

    def audit(
        self,
        collection: str,
        *,
        now: Moment,
        checks: Collection[str] | None = None,
        recount: Literal["all"] | int | None = None,
        counters: Counters | None = None,
        sources: Sources | None = None,
        index_ids: frozenset[str] | None = None,
    ) -> Iterator[Finding]:
        """Findings of CHECKS, as they come; memory stays flat.

        `recount` ("all" or about how many chunks) needs `counters`, which gives the counter of an
        encoding by name. `sources` is a complete listing, `index_ids` what a vector index holds.
        """
        request = AuditRequest(now, checks, recount, counters, sources, index_ids)
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            yield from audit.audit(connection, number, request)

    def prune(
        self,
        collection: str,
        *,
        ended_before: Moment,
        packs_before: Moment | None = None,
        with_packs: bool = False,
        now: Moment,
        stop_asked: Callable[[], bool] = _never,
    ) -> Pruned:
        """Remove the content of versions that ended before a moment; those that logged packs
        used stay for replay unless `with_packs`. Packs logged before `packs_before` go too.

        Ends between two transactions once `stop_asked`.
        """
        return prune.prune(
            self.database,
            self.collection_id(collection),
            ended_before=ended_before,
            packs_before=packs_before,
            with_packs=with_packs,
            now=now,
            stop_asked=stop_asked,
        )

    def prunable(
        self,
        collection: str,
        *,
        ended_before: Moment,
        packs_before: Moment | None = None,
        with_packs: bool = False,
    ) -> Pruned:
        """What `prune` would remove and keep now; nothing is changed."""
        number = self.collection_id(collection)
        with self.database.snapshot() as connection:
            return prune.prunable(
                connection,
                number,
                ended_before=ended_before,
                packs_before=packs_before,
                with_packs=with_packs,
            )

    def erase(self, collection: str, document: str, *, now: Moment) -> Erased:
        """Remove every version, element, feed text and logged text of a document, for good; a
        tombstone keeps it from being ingested again. Follow it with `vacuum`.
        """
        return self._change(collection, lambda c, n: erase.erase(c, n, document, now))

    def vacuum(self, stop_asked: Callable[[], bool] = _never) -> bool:
        """Give freed room back; what was deleted is in no page afterwards. Locks the store.

        False where it was undone because of `stop_asked`.
        """
        return prune.vacuum(self.database, stop_asked)

    def api_keys(self) -> list[ApiKey]:
        """Every API key, revoked ones included, the oldest first."""
        with self.database.snapshot() as connection:
            return keys.list_keys(connection)

    def add_api_key(self, key: ApiKey) -> None:
        """Store an API key."""
        self.database.retry(lambda c: keys.add_key(c, key))

    def revoke_api_key(self, key_id: str, *, now: Moment) -> None:
        """End an API key. Raises NotFoundError."""
        self.database.retry(lambda c: keys.revoke_key(c, key_id, now))
