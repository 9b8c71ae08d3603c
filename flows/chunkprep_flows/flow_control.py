"""What people do to a flow run while it is under way, in Prefect's pages or by its API: cancel,
pause, resume, suspend.

A run that a deployment's runner started gets a signal too when it is cancelled; one that was
started by hand, or whose runner is gone, hears of it here only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any
from uuid import UUID

from prefect import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import Pause
from prefect.runtime import flow_run
from prefect.settings import PREFECT_SERVER_UI_ENABLED
from prefect.states import Cancelled

from chunkprep_flows.interrupt import (
    StoppedError,
    ask_to_stop,
    forget_stop,
    graceful_stop,
    stop_asked,
)
from chunkprep_flows.pipeline import FlowRun
from chunkprep_flows.prefect_talk import leave_out_tracebacks

ASK_SECONDS = 2.0
"""How often the API is asked."""

HOLD_SECONDS = 0.2
_TAG = "collection:"


class StoppedRunError(Exception):
    """A flow run was stopped before its end; `report`, and the message, say how far it came."""

    def __init__(self, report: Any, told: str) -> None:
        self.report = report
        super().__init__(told)


class Control:
    """What was last heard of the run."""

    def __init__(self) -> None:
        self._held = threading.Event()
        self.suspended: State | None = None

    def hear(self, state: State | None) -> None:
        """Act on the state that the API gives the run."""
        if state is None:
            return
        suspended = state.is_paused() and state.name == "Suspended"
        if suspended:
            self.suspended = state
        if state.is_cancelling() or state.is_cancelled() or suspended:
            ask_to_stop(f"{state.name} by Prefect: stopping after the documents at hand")
        if state.is_paused() and not suspended:
            self._held.set()
        else:
            self._held.clear()

    def wait_while_paused(self) -> None:
        """Return once the run is not paused, or somebody asks for a stop."""
        over = threading.Event()
        while self._held.is_set() and not stop_asked():
            over.wait(HOLD_SECONDS)


@contextmanager
def controlled() -> Iterator[Control]:
    """Within it this flow run does what the API is told of it."""
    control, over = Control(), threading.Event()
    run_id = UUID(str(flow_run.id))

    def listen() -> None:
        while not over.wait(ASK_SECONDS):
            try:
                with get_client(sync_client=True) as client:
                    control.hear(client.read_flow_run(run_id).state)
            except Exception:  # noqa: S112 - an API that is away tells nothing, and is asked again
                continue

    thread = threading.Thread(
        target=copy_context().run, args=(listen,), name="flow-control", daemon=True
    )
    thread.start()
    try:
        yield control
    finally:
        over.set()
        thread.join()
        forget_stop()


def this_flow_run() -> FlowRun:
    """The flow run that this is called in."""
    shown = PREFECT_SERVER_UI_ENABLED.value()
    return FlowRun(str(flow_run.id), flow_run.ui_url if shown else None)


def tag_collection(collection: str) -> None:
    """Give this flow run its collection's tag, whatever its deployment's tags are."""
    own = _TAG + collection
    if own in flow_run.tags:
        return
    tags = [tag for tag in flow_run.tags if not tag.startswith(_TAG)]
    with get_client(sync_client=True) as client:
        client.update_flow_run(UUID(str(flow_run.id)), tags=[*tags, own])


def to_its_end(work: Callable[[Control], tuple[Any, str]]) -> Any:
    """What a flow returns: the report that its work gives, with the words for it.

    Stopped before its end the flow is Cancelled, in those words, and raises StoppedRunError, or
    StoppedError where there was nothing to report, for whoever called it. Suspended it stays so,
    and is begun again when somebody resumes it.

    A signal to stop is heard in here: Prefect sets its own handlers around a flow's body.
    """
    leave_out_tracebacks()
    with graceful_stop(), controlled() as control:
        try:
            report, told = work(control)
            stopped: Exception = StoppedRunError(report, told)
            if not getattr(report, "stopped", False):
                return report
        except StoppedError as error:
            stopped = error
        if control.suspended is not None:
            raise Pause(state=control.suspended)
        return Cancelled(message=str(stopped), data=stopped)
