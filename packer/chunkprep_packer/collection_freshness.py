"""How fresh a collection is: the runs of a store, by the rule of chunkprep_ingest.freshness."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

from chunkprep_ingest.freshness import SourceRuns, oldest, source_of, with_older
from chunkprep_store import Run, Store

FAR = 10_000
"""How many runs back an ingest of a source is looked for: those of five weeks, every five minutes;
reading them all takes a quarter of a second.
"""

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class CollectionFreshness:
    """The ingests of each source of a collection. `sources` are those that active documents or
    drafts come from, so many as `counts` says, whether or not an ingest of them is known; from
    `strays` there are none, though the `latest` ingest looked at them.
    """

    sources: tuple[SourceRuns[Run], ...]
    counts: dict[str, int]
    strays: tuple[SourceRuns[Run], ...]
    latest: Run | None

    @property
    def whole(self) -> Run | None:
        """The last ingest that looked at a source whole, of the source where that is longest ago;
        None where one never was.
        """
        return oldest(source.whole for source in self.sources)

    @property
    def clean(self) -> Run | None:
        """As `whole`, of ingests without a failure."""
        return oldest(source.clean for source in self.sources)


def collection_freshness(store: Store, collection: str) -> CollectionFreshness:
    """What the latest FAR runs say of the sources. Raises NotFoundError where there is no such
    collection.
    """
    known: dict[str, SourceRuns[Run]] = {}
    latest: Run | None = None
    for first in range(0, FAR, _AT_ONCE):
        runs = store.runs(collection, limit=_AT_ONCE, first=first)
        latest = latest or next((run for run in runs if run.kind == "ingest"), None)
        known = with_older(known, runs)
        if len(runs) < _AT_ONCE:
            break
    counts = Counter(source_of(uri, key) for key, uri in store.standing(collection).items())
    strays = (known[name] for name in sorted(known) if name not in counts)
    return CollectionFreshness(
        tuple(known.get(name) or SourceRuns(name) for name in sorted(counts)),
        dict(counts),
        tuple(stray for stray in strays if stray.last is latest),
        latest,
    )


def place_of(source: str) -> str:
    """A source as people know it: a path, or its URL."""
    path = source.removeprefix("file://")
    return source if path == source else unquote(path)
