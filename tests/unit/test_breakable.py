"""What may be broken off anywhere hears of a stop whenever it is asked for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from chunkprep_flows.interrupt import (
    StoppedError,
    ask_to_stop,
    breakable,
    graceful_stop,
    stop_asked,
    wait_for_stop,
)


def never() -> bool:
    return False


def wait_outside(then: Callable[[], None]) -> None:
    """A wait inside of which another one has ended, then something happens."""
    with breakable("outside"):
        with breakable("inside"):
            pass
        then()
        wait_for_stop(60, heard=never)


def test_an_outer_wait_is_still_broken_off_after_an_inner_one() -> None:
    later = threading.Timer(0.05, ask_to_stop, ["enough"])
    with graceful_stop(), pytest.raises(StoppedError, match="stopped while outside; run it again"):
        wait_outside(later.start)


def test_a_stop_that_was_asked_for_before_breaks_off_at_once() -> None:
    with graceful_stop():
        ask_to_stop("enough")
        with pytest.raises(StoppedError, match="stopped while waiting"), breakable("waiting"):
            raise AssertionError("it was not broken off")


def test_a_thread_hears_of_a_stop_where_it_begins_to_wait() -> None:
    told: list[str] = []

    def work() -> None:
        try:
            with breakable("a thread waited"):
                told.append("waited")
        except StoppedError as error:
            told.append(str(error))

    with graceful_stop():
        ask_to_stop("enough")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert told == ["stopped while a thread waited; run it again to go on"]


def test_a_signal_that_is_blocked_is_left_to_whoever_blocked_it() -> None:
    before = signal.getsignal(signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with graceful_stop():
            os.kill(os.getpid(), signal.SIGINT)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            assert not stop_asked()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
