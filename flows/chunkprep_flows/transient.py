"""Which trouble of a task is worth another try: a database or a source that is away."""

from __future__ import annotations

from typing import Any

from prefect.tasks import exponential_backoff

from chunkprep_flows.interrupt import stop_asked
from chunkprep_ingest.errors import ConflictError, SourceAwayError, UnavailableError

TRIES = 5
DELAYS = exponential_backoff(2)(TRIES)  # 2, 4, 8, 16, 32 seconds, each made longer by chance
RETRIES: dict[str, Any] = {"retries": TRIES, "retry_jitter_factor": 0.5}
"""Of every task; with `retry_delay_seconds` and `retry_condition_fn` below."""


def is_transient(task: Any, run: Any, state: Any) -> bool:
    """Prefect's retry condition: whether the run failed of what may be over in a moment.

    Nobody who asked for a stop waits for that.
    """
    del task, run
    try:
        state.result()
    except (UnavailableError, ConflictError, SourceAwayError):
        return not stop_asked()
    except Exception:
        return False
    return False
