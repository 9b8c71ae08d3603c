"""Stopping at a document boundary: SIGINT and SIGTERM ask, the work looks, nothing is cut off."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from types import FrameType

from chunkprep_flows.console import talk
from chunkprep_ingest.collecting import collect_seldom

WATCH_SECONDS = 0.1

_asked = threading.Event()
"""Set once this process was asked to stop: signals are a process-wide matter."""


_parent: list[Event] = []
"""In a worker process: what its parent sets when that was asked to stop."""


def stop_asked() -> bool:
    """Whether somebody asked this process, or the one it works for, to stop."""
    return _asked.is_set() or any(event.is_set() for event in _parent)


def wait_for_stop(seconds: float) -> bool:
    """Wait until somebody asks this process to stop, so long at most; whether somebody did."""
    return _asked.wait(seconds)


@contextmanager
def graceful_stop(after: str = "the documents at hand") -> Iterator[None]:
    """Within it the first SIGINT or SIGTERM asks for a stop, the second interrupts at once.

    `after` tells the user what is still finished.

    Does nothing outside the main thread, where Python handles no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _asked.clear()
    heard = False

    def ask(number: int, _frame: FrameType | None) -> None:
        nonlocal heard
        if heard:
            raise KeyboardInterrupt
        heard = True
        ask_to_stop(f"{signal.Signals(number).name}: stopping after {after}; again to stop now")

    try:
        for number in before:
            signal.signal(number, ask)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _asked.clear()


def follow(parent: Event) -> None:
    """For worker processes: Ctrl-C is the parent's to handle, and its stop is theirs."""
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _parent.append(parent)


@contextmanager
def passed_on() -> Iterator[Event]:
    """An event for worker processes to follow, set soon after this process is asked to stop."""
    event = get_context("spawn").Event()
    with when_asked(event.set):
        yield event


@contextmanager
def when_asked(call: Callable[[], object]) -> Iterator[None]:
    """Within it `call` is called, in a thread of its own, soon after somebody asks for a stop."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_SECONDS):
            if _asked.is_set():
                call()
                return

    watcher = threading.Thread(target=watch, name="stop-watcher", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def forget_stop() -> None:
    """Outside the main thread, where no signal is handled: whoever was to stop has done so."""
    if threading.current_thread() is not threading.main_thread():
        _asked.clear()


def ask_to_stop(why: str) -> None:
    """Ask this process to stop, and say why on stderr; asked again it does nothing."""
    if not _asked.is_set():
        _asked.set()
        talk(why)
