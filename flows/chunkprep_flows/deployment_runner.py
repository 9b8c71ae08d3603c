"""Prefect's runner of deployments, which a signal ends as a run of ours wants to be ended.

On its own it kills the run that is under way when Ctrl-C comes, and leaves it Running in Prefect,
where it keeps the next one waiting; on SIGTERM it makes a run Cancelled that has just completed. It
does not outlive an API that is away for some minutes.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

import psutil
from prefect.deployments.runner import RunnerDeployment
from prefect.runner import Runner

from chunkprep_flows.api_outage import Answering, leave_out_streams, tolerant
from chunkprep_flows.console import talk
from chunkprep_flows.interrupt import deaf_children
from chunkprep_flows.prefect_talk import leave_out_tracebacks
from chunkprep_flows.quiet_console import quiet_runs

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 30.0
_IMPATIENCE_SECONDS = 3.0
_TELL_SECONDS = 10.0
"""How long Prefect's API, which may be away, is told how runs ended whose processes are gone."""

_AGAIN_SECONDS = 2.0
"""How long it waits before it looks again whether the API is back."""

_RUN = "prefect.engine"
"""The module that Prefect runs a flow run's process with."""


def run_deployments(
    deployments: Sequence[RunnerDeployment], cancel_unbegun: Callable[[], None]
) -> None:
    """Serve them until SIGINT or SIGTERM, one run of each at a time at most.

    Then `cancel_unbegun` is called: a run that is killed while it starts would be Crashed. One
    that is under way is asked to stop, and says itself how it ended; it is waited for 30 seconds,
    then it is killed. A second signal makes it stop at once. The schedules are not paused on the
    way out.
    """
    leave_out_tracebacks()
    leave_out_streams()
    quiet_runs()
    runner = _StoppedRunner(cancel_unbegun, len(deployments))
    for deployment in deployments:
        runner.add_deployment(deployment)
    with _signals_heard(), deaf_children(), suppress(asyncio.CancelledError):
        asyncio.run(runner.serve())


class _StoppedRunner(Runner):
    """Asks the processes of runs to stop, those too that were just being handed out."""

    def __init__(self, cancel_unbegun: Callable[[], None], limit: int) -> None:
        self._observer: Any = None
        super().__init__(pause_on_shutdown=False, limit=limit)
        self._cancel_unbegun = cancel_unbegun
        self._patience = _PATIENCE_SECONDS
        self._asked: dict[psutil.Process, float] = {}
        """When each was asked, by the monotonic clock."""
        self._serving: asyncio.Task[Any] | None = None

    def handle_sigterm(self, *_: Any, **__: Any) -> None:
        """The first signal asks the runs to stop, another one makes them stop at once."""
        if self.stopping:
            self._patience = _IMPATIENCE_SECONDS
            self._asked.clear()
            return
        if not self.started:
            sys.exit(0)
        self.stopping = True
        talk("stopping with the run at hand, if there is one; again to stop now")
        self.execute_in_background(self._wind_down)

    async def _wind_down(self) -> None:
        await asyncio.to_thread(self._cancel_unbegun)
        await self.astop()
        seen = time.monotonic()
        while time.monotonic() < seen + _TELL_SECONDS:
            if _run_processes():
                seen = time.monotonic()
            await self.cancel_all()
            await asyncio.sleep(_LOOK_SECONDS)
        if self._serving is not None:
            self._serving.cancel()

    async def cancel_all(self) -> None:
        """Ask each run's process once, and kill those that were asked too long ago."""
        now = time.monotonic()
        for process in _run_processes():
            with suppress(psutil.NoSuchProcess):
                if process not in self._asked:
                    self._asked[process] = now
                    process.terminate()
                elif now > self._asked[process] + self._patience:
                    process.kill()

    async def __aenter__(self) -> Self:
        """As Prefect's own, but it outlives an API that is away."""
        await super().__aenter__()
        _wrap(self, "_scheduled_run_poller", "_get_and_submit_flow_runs", Answering().outliving)
        _wrap(self, "_state_proposer", "propose_crashed", self._once_answered)
        return self

    def _once_answered(self, tell: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """`tell`, when the API answers: a run that broke down unheard would keep its place."""

        async def told(*args: Any, **kwargs: Any) -> Any:
            while not self.stopping and await self._client.api_healthcheck() is not None:
                await asyncio.sleep(_AGAIN_SECONDS)
            return await tell(*args, **kwargs)

        return told

    @property
    def _cancelling_observer(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._observer

    @_cancelling_observer.setter
    def _cancelling_observer(self, observer: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Prefect sets it just before the observer begins to ask, too."""
        is_new = observer is not self._observer
        self._observer = observer
        if is_new:
            _wrap(self, "_observer", "_check_for_cancelled_flow_runs", tolerant)

    async def serve(self) -> None:
        """Start the runs that are due until a signal comes and no run is left."""
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.handle_sigterm)
        self._serving = asyncio.current_task()
        await self.start()


def _wrap(runner: Runner, part: str, method: str, wrap: Callable[[Any], Any]) -> None:
    """Replace a method of a part of Prefect's runner. It has no other way in; a later Prefect that
    is made of other parts is left as it is, and outlives what it outlives.
    """
    owner = getattr(runner, part, None)
    plain = getattr(owner, method, None)
    if plain is not None:
        setattr(owner, method, wrap(plain))


def _run_processes() -> list[psutil.Process]:
    """The processes of flow runs that this one has started and that live."""
    found = []
    for process in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # a zombie is none any more, either
            if _RUN in process.cmdline():
                found.append(process)
    return found


@contextmanager
def _signals_heard() -> Iterator[None]:
    """Within it a thread takes the signals that others have blocked; asyncio then hears of them."""
    over = threading.Event()
    ears = threading.Thread(target=over.wait, name="signals", daemon=True)
    ears.start()
    try:
        yield
    finally:
        over.set()
        ears.join()
