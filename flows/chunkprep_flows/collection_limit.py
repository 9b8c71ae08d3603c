"""One changing flow per collection at a time, by Prefect's global concurrency limits.

The limit is made by the first run, so it also holds outside deployments: for everything that runs
against the same Prefect API. Runs on different APIs meet in the store only, whose transactions keep
each document whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prefect import get_client
from prefect.concurrency.sync import concurrency

from chunkprep_ingest.ids import fingerprint

_LEASE_SECONDS = 60
"""How long a run that was killed keeps others waiting; a living one renews its lease."""


@contextmanager
def one_at_a_time(store: str, collection: str) -> Iterator[None]:
    """Wait until no other run works on the collection, and keep others waiting meanwhile."""
    name = limit_name(store, collection)
    with get_client(sync_client=True) as client:
        client.upsert_global_concurrency_limit_by_name(name, 1)
    with concurrency(
        name, lease_duration=_LEASE_SECONDS, strict=True, raise_on_lease_renewal_failure=False
    ):
        yield


def limit_name(store: str, collection: str) -> str:
    """The limit's name: a digest, because names take few characters and a URL holds a password."""
    return f"chunkprep-{fingerprint(store, collection)[:16]}"
