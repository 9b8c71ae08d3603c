"""Stopping at a document boundary: SIGINT and SIGTERM ask, the work looks, nothing is cut off.

What has to be finished looks whether it was asked to stop (`stop_asked`); what may be broken off
anywhere, a wait or reading that changes nothing, is left at once (`breakable`).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.synchronize import Event
from types import FrameType

from chunkprep_flows.console import talk
from chunkprep_ingest.collecting import collect_seldom
from chunkprep_ingest.errors import ChunkprepError

WATCH_SECONDS = 0.1
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WAKE: tuple[signal.Signals, ...] = (signal.SIGURG,) if hasattr(signal, "SIGURG") else ()
"""Gets the main thread out of a call. Where nobody handles it any more, it does nothing. Windows
has none such: there a call is waited for.
"""

_asked = threading.Event()
"""Set once this process was asked to stop: signals are a process-wide matter."""


_parent: list[Event] = []
"""In a worker process: what its parent sets when that was asked to stop."""


class StoppedError(ChunkprepError):
    """It was stopped before it had anything to sum up."""


class BrokenOff(KeyboardInterrupt):
    """Somebody asked for a stop where nothing had to be finished.

    A KeyboardInterrupt, because libraries end what they wait for on one: psycopg its query, Prefect
    its call.
    """


class _Main:
    """The main thread, as the signals find it."""

    graceful = 0
    """So many `graceful_stop` it is in."""
    signalled = False
    breakable = False


def stop_asked() -> bool:
    """Whether somebody asked this process, or the one it works for, to stop."""
    return _asked.is_set() or any(event.is_set() for event in _parent)


def wait_for_stop(seconds: float, heard: Callable[[], bool] = stop_asked) -> bool:
    """Wait until somebody asks for a stop, so long at most; whether somebody did.

    Looks now and then: a signal's handler that sets what the same thread waits for could lock up.
    """
    until = time.monotonic() + seconds
    while not heard():
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, WATCH_SECONDS))
    return True


@contextmanager
def graceful_stop(after: str = "the documents at hand") -> Iterator[None]:
    """Within it the first SIGINT or SIGTERM asks for a stop, the second interrupts at once.

    `after` tells the user what is still finished. Within another one it sets the handlers again,
    which Prefect sets for itself meanwhile. A signal that whoever started this process has blocked
    is left to them. Does nothing outside the main thread, where Python handles no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (*_WAKE, *SIGNALS)}
    deaf = {number: before.pop(number) for number in _blocked()}
    for number in deaf:
        signal.signal(number, signal.SIG_IGN)  # starting a process, Python unblocks it
    if not _Main.graceful:
        _asked.clear()
        _Main.signalled = False

    def ask(number: int, _frame: FrameType | None) -> None:
        if number not in _WAKE:
            if _Main.signalled:
                raise KeyboardInterrupt
            _Main.signalled = True
            name = signal.Signals(number).name
            finished = "" if _Main.breakable else f" after {after}; again to stop now"
            ask_to_stop(f"{name}: stopping{finished}")
        if _Main.breakable:
            raise BrokenOff

    _Main.graceful += 1
    try:
        for number in before:
            signal.signal(number, ask)
        yield
    finally:
        still = _blocked()  # what Python has unblocked stays ignored
        before |= {number: handler for number, handler in deaf.items() if number in still}
        for number, handler in before.items():
            signal.signal(number, handler)
        _Main.graceful -= 1
        if not _Main.graceful:
            _asked.clear()


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Within it SIGTERM ends a command as Ctrl-C does: what is open is closed, and nothing stays
    behind. Does nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def breakable(doing: str) -> Iterator[None]:
    """Within it whoever asks for a stop gets it at once.

    Raises StoppedError, which says what was being done, `doing`. Outside the main thread that is
    noticed at its beginning only.
    """
    told = f"stopped while {doing}; run it again to go on"
    if threading.current_thread() is not threading.main_thread():
        if stop_asked():
            raise StoppedError(told)
        yield
        return
    before = _Main.breakable
    try:
        _Main.breakable = _Main.graceful > 0
        if stop_asked():  # from here on whoever asks breaks it off
            raise StoppedError(told)
        yield
    except BrokenOff:
        raise StoppedError(told) from None
    finally:
        _Main.breakable = before


def follow(parent: Event) -> None:
    """For worker processes: Ctrl-C is the parent's to handle, and its stop is theirs."""
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _parent.append(parent)


@contextmanager
def deaf_children() -> Iterator[None]:
    """Within it processes and threads are started that Ctrl-C, which a terminal sends to all, does
    not reach: the mask of signals is inherited. This process hears of it a little later.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # later it would unblock the signal where it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _blocked() -> set[signal.Signals]:
    """The signals to stop that this thread has blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return set()
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return {number for number in SIGNALS if number in masked}


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
    if _asked.is_set():
        return
    _asked.set()
    talk(why)
    main = threading.main_thread()
    if _Main.breakable and threading.current_thread() is not main and main.ident is not None:
        for number in _WAKE:
            signal.pthread_kill(main.ident, number)
