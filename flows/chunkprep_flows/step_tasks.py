"""Steps of a run as Prefect tasks: seen in the flow run, and tried again where trouble may pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE

from chunkprep_flows.interrupt import stop_asked
from chunkprep_flows.transient import DELAYS, RETRIES, is_transient

T = TypeVar("T")


class _Opaque:
    """Something that Prefect neither looks into nor takes apart."""

    def __init__(self, held: Any) -> None:
        self.held = held


@task(
    cache_policy=NO_CACHE,
    persist_result=False,
    retry_delay_seconds=DELAYS,
    retry_condition_fn=is_transient,
    **RETRIES,
)
def _step(work: _Opaque) -> _Opaque:
    return _Opaque(work.held())


def step_as_task(name: str, work: Callable[[], T]) -> T:
    """Take the step in this thread, as a task of this name; a run that stops has no more tasks."""
    if stop_asked():
        return work()
    done: T = _step.with_options(name=name, task_run_name=name)(_Opaque(work)).held
    return done
