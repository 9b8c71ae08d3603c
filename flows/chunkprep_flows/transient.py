"""Which trouble of a task is worth another try: a database that is away, nothing else."""

from __future__ import annotations

from typing import Any

from prefect.tasks import exponential_backoff

from chunkprep_ingest.errors import ConflictError, UnavailableError

TRIES = 5
DELAYS = exponential_backoff(2)(TRIES)  # 2, 4, 8, 16, 32 seconds, each made longer by chance
RETRIES: dict[str, Any] = {"retries": TRIES, "retry_jitter_factor": 0.5}
"""Of every task; with `retry_delay_seconds` and `retry_condition_fn` below."""


def is_transient(task: Any, run: Any, state: Any) -> bool:
    """Prefect's retry condition: whether the run failed of what may be over in a moment."""
    del task, run
    try:
        state.result()
    except (UnavailableError, ConflictError):
        return True
    except Exception:
        return False
    return False
