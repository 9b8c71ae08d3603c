"""Steps of a run as Prefect tasks: seen in the flow run, and tried again where trouble may pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import Pause
from prefect.states import Completed

from chunkprep_flows.interrupt import StoppedError, ask_to_stop, stop_asked
from chunkprep_flows.transient import RETRIES, patiently

T = TypeVar("T")


class _Opaque:
    """Something that Prefect neither looks into nor takes apart."""

    def __init__(self, held: Any) -> None:
        self.held = held


@task(cache_policy=NO_CACHE, persist_result=False, **RETRIES)
def _step(name: str, work: _Opaque) -> Any:
    try:
        return _Opaque(patiently(name, work.held))
    except StoppedError as stopped:
        return Completed(name="Stopped", message=str(stopped), data=_Opaque(stopped))


def step_as_task(name: str, work: Callable[[], T]) -> T:
    """Take the step in this thread, as a task of this name; a run that stops has no more tasks.

    Raises StoppedError where somebody asks for a stop while it is waited for or broken off, or
    suspends the flow run before it.
    """
    if stop_asked():
        return work()
    step: Any = _step.with_options(name=name, task_run_name=name)
    try:
        state = step(name, _Opaque(work), return_state=True)
    except Pause as suspended:
        ask_to_stop(f"Suspended by Prefect: stopping before {name}")
        raise StoppedError(f"suspended before {name}") from suspended
    done: T | StoppedError = state.result().held
    if isinstance(done, StoppedError):
        raise done
    return done
