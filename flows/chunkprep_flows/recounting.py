"""Prices of stored chunks in a further encoding: nothing is split again, ids stay."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from chunkprep_flows.interrupt import stop_asked
from chunkprep_flows.recipe import keep_profile, recorded_recipe
from chunkprep_flows.wording import counted
from chunkprep_ingest.counting import Counter
from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_ingest.profile import Profile
from chunkprep_ingest.reprice import reprice
from chunkprep_store import FurtherPrice, Store

_BATCH = 100  # chunks priced in one transaction


@dataclass(frozen=True, slots=True)
class RecountReport:
    """What was priced: `over_cap` blocks cost more than the policy's cap in this encoding."""

    collection: str
    encoding: str
    chunks: int
    over_cap: int
    stopped: bool
    seconds: float

    @property
    def headline(self) -> str:
        """What was priced, in words."""
        over = f", {self.over_cap} of them over the cap there" if self.over_cap else ""
        return f"priced {counted(self.chunks, 'chunk')} in {self.encoding}{over}"


def recount_collection(store: Store, collection: str, encoding: str) -> RecountReport:
    """Price every chunk that has no price in `encoding` yet; a stopped run goes on where it was.

    Raises ProfileError for an encoding that is not at hand or does not go with the template.
    """
    started = time.perf_counter()
    recipe = replace(recorded_recipe(store, collection), encoding=encoding)
    profile, counter = recipe.profile(), recipe.counter()
    keep_profile(store, profile)
    done = over = 0
    while not stop_asked():
        with closing(store.unpriced(collection, encoding)) as unpriced:
            rows = list(islice(unpriced, _BATCH))
        if not rows:
            break
        prices = [further_price(row, profile, counter) for row in rows]
        store.put_prices(collection, encoding, profile.fingerprint, prices)
        done += len(prices)
        over += sum(price.block_tokens > recipe.policy.cap for price in prices)
    return RecountReport(
        collection, encoding, done, over, stop_asked(), round(time.perf_counter() - started, 3)
    )


def further_price(row: ChunkRow, profile: Profile, counter: Counter) -> FurtherPrice:
    """What one stored chunk costs under another profile of the same template."""
    boundaries = [Boundary(*boundary) for boundary in json.loads(row.boundaries)]
    priced = reprice(row.header, row.text, boundaries, profile, counter)
    return FurtherPrice(row.chunk_id, *priced)
