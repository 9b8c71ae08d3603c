"""The store: one door to everything that is written and read."""

from __future__ import annotations

from chunkprep_store.changing import Changing
from chunkprep_store.reading import Reading
from chunkprep_store.upkeep import Upkeep


class Store(Reading, Changing, Upkeep):
    """An open store. Safe to share between threads; a forked process opens its own."""
