"""Which trouble of a task is worth another try: a database or a source that is away."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

from prefect import get_run_logger
from prefect.runtime import task_run

from chunkprep_flows.interrupt import StoppedError, stop_asked, wait_for_stop
from chunkprep_ingest.errors import ConflictError, SourceAwayError, UnavailableError

T = TypeVar("T")

PASSING = (UnavailableError, ConflictError, SourceAwayError)
TRIES = 5
"""Besides the first one."""

DELAYS = (2, 4, 8, 16, 32)
"""Seconds before each further try, made longer by chance, by half at most."""


def is_transient(task: Any, run: Any, state: Any) -> bool:
    """Prefect's retry condition: whether the run failed of what may be over in a moment."""
    del task, run
    try:
        state.result()
    except PASSING:
        return True
    except Exception:
        return False
    return False


RETRIES: dict[str, Any] = {"retries": TRIES, "retry_condition_fn": is_transient}
"""Of every task, whose work is done by `patiently`."""


def patiently(doing: str, work: Callable[[], T], heard: Callable[[], bool] = stop_asked) -> T:
    """What `work` returns, in a task: trouble that may pass is raised, for Prefect to try again,
    after a wait.

    A wait of Prefect's own, by `retry_delay_seconds`, ends for no signal, and in a worker for
    nobody. Raises StoppedError, which says what was being done, for whoever asks for a stop
    meanwhile.
    """
    try:
        return work()
    except PASSING as error:
        tried = int(task_run.run_count or 1)
        if tried <= TRIES:
            seconds = DELAYS[tried - 1] * random.uniform(1, 1.5)  # noqa: S311 - jitter
            get_run_logger().warning("%s; trying again in %.0f s", error, seconds)
            if wait_for_stop(seconds, heard):
                raise StoppedError(f"stopped while {doing} waited: {error}") from error
        raise
