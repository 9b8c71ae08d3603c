"""Stopping at a document boundary: SIGINT and SIGTERM ask, the work looks, nothing is cut off."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from chunkprep_flows.console import talk

_asked = threading.Event()
"""Set once this process was asked to stop: signals are a process-wide matter."""


def stop_asked() -> bool:
    """Whether somebody asked this process to stop."""
    return _asked.is_set()


@contextmanager
def graceful_stop() -> Iterator[None]:
    """Within it the first SIGINT or SIGTERM asks for a stop, the second interrupts at once.

    Does nothing outside the main thread, where Python handles no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _asked.clear()
    try:
        for number in before:
            signal.signal(number, _ask)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _asked.clear()


def ignore_interrupt() -> None:
    """For worker processes: Ctrl-C is the parent's to handle, which sends no further batches."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _ask(number: int, _frame: FrameType | None) -> None:
    if _asked.is_set():
        raise KeyboardInterrupt
    _asked.set()
    talk(f"{signal.Signals(number).name}: stopping after the documents at hand; again to stop now")
