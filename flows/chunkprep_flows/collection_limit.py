"""One changing flow per collection at a time, by Prefect's global concurrency limits.

The limit is made by the first run, so it also holds outside deployments: for everything that runs
against the same Prefect API. Runs on different APIs meet in the store only, whose transactions keep
each document whole.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial

from prefect import get_client
from prefect.concurrency.sync import concurrency

from chunkprep_flows.console import talk
from chunkprep_flows.interrupt import breakable
from chunkprep_ingest.ids import fingerprint

_LEASE_SECONDS = 60
"""How long a run that was killed keeps others waiting; a living one renews its lease."""


_TURN_SECONDS = 5.0
"""How long Prefect is left to wait for a slot: it gives up for no signal before."""

_SERVICE = "ConcurrencySlotAcquisitionWithLeaseService"
"""What asks for the slot in Prefect, and logs an ERROR whenever a turn ends without one."""


@contextmanager
def one_at_a_time(store: str, collection: str) -> Iterator[None]:
    """Wait until no other run works on the collection, and keep others waiting meanwhile.

    A wait of more than a turn is told on stderr, once.
    Raises StoppedError where somebody asks for a stop while it waits.
    """
    name = limit_name(store, collection)
    waiting = partial(breakable, "another run of the collection was waited for")
    _leave_out_turns()
    with ExitStack() as held:
        with waiting(), get_client(sync_client=True) as client:
            client.upsert_global_concurrency_limit_by_name(name, 1)
        turns = 0
        taken = False
        while not taken:
            if turns == 1:
                talk(f"waiting for another run of collection {collection} to end")
            with waiting():
                taken = _taken(held, name)
            turns += 1
        yield


def _leave_out_turns() -> None:
    """Keep Prefect from logging turns that end without a slot.

    For good: the record comes from another thread, and maybe after the turn.
    """
    logging.getLogger("prefect._internal.concurrency").addFilter(_no_turn)


def _no_turn(record: logging.LogRecord) -> bool:
    """Whether it says anything but that Prefect waited for a slot in vain, or for nobody."""
    match record.args:
        case (service, (*_, Future() as answer)) if service == _SERVICE and answer.done():
            waited = answer.cancelled() or isinstance(answer.exception(), TimeoutError)
            return not waited
    return True


def _taken(held: ExitStack, name: str) -> bool:
    """Whether the slot could be had in a moment."""
    slot = concurrency(
        name,
        timeout_seconds=_TURN_SECONDS,
        lease_duration=_LEASE_SECONDS,
        strict=True,
        raise_on_lease_renewal_failure=False,
    )
    try:
        held.enter_context(slot)
    except TimeoutError:
        return False
    return True


def limit_name(store: str, collection: str) -> str:
    """The limit's name: a digest, because names take few characters and a URL holds a password."""
    return f"chunkprep-{fingerprint(store, collection)[:16]}"
