"""The record of a run that ends before its work does: not under way for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from chunkprep_flows.opened import now

if TYPE_CHECKING:
    from chunkprep_store import Store


@contextmanager
def recorded_end(store: Store, run_id: str) -> Iterator[None]:
    """Within it a run that ends by an error, or at once by a second signal, says so in its record,
    as far as the store can be reached. What it recorded itself stays.
    """
    try:
        yield
    except BaseException as error:
        told = " ".join(str(error).split())
        why = f"{type(error).__name__}: {told}" if told else type(error).__name__
        with suppress(Exception):
            summary = {"stopped": True, "error": why}
            store.finish_run(run_id, now=now(), summary=summary, once=True)
        raise
