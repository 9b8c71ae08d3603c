"""Prefect's runner of deployments, which a signal ends as a run of ours wants to be ended.

On its own it kills the run that is under way when Ctrl-C comes, and leaves it Running in Prefect,
where it keeps the next one waiting; on SIGTERM it makes a run Cancelled that has just completed.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psutil
from prefect.deployments.runner import RunnerDeployment
from prefect.runner import Runner

from chunkprep_flows.console import talk
from chunkprep_flows.interrupt import deaf_children

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 30.0
_IMPATIENCE_SECONDS = 3.0
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
    runner = _StoppedRunner(cancel_unbegun, len(deployments))
    for deployment in deployments:
        runner.add_deployment(deployment)
    with _signals_heard(), deaf_children(), suppress(KeyboardInterrupt):
        asyncio.run(_until_stopped(runner))


class _StoppedRunner(Runner):
    """Asks the processes of runs to stop, those too that were just being handed out."""

    def __init__(self, cancel_unbegun: Callable[[], None], limit: int) -> None:
        super().__init__(pause_on_shutdown=False, limit=limit)
        self._cancel_unbegun = cancel_unbegun
        self._patience = _PATIENCE_SECONDS
        self._asked: dict[psutil.Process, float] = {}
        """When each was asked, by the monotonic clock."""

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
        while True:  # until `start`, which waits for the processes, ends this loop
            await self.cancel_all()
            await asyncio.sleep(_LOOK_SECONDS)

    async def cancel_all(self) -> None:
        """Ask each run's process once, and kill those that were asked too long ago."""
        now = time.monotonic()
        for process in psutil.Process().children():
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                if _RUN not in process.cmdline():
                    continue
                if process not in self._asked:
                    self._asked[process] = now
                    process.terminate()
                elif now - self._asked[process] > self._patience:
                    process.kill()


async def _until_stopped(runner: Runner) -> None:
    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, runner.handle_sigterm)
    await runner.start()


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
