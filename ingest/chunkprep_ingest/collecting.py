"""How often Python looks for cycles among values while documents go through.

What a document is made into are tens of thousands of small values without cycles, let go of with
the document. Python would look through them each 700 that are added: 5 to 10 % of a run.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (20_000, 10, 10)
"""New values between two looks, then as Python has it: some MiB, when all of them are garbage."""

_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []
"""The process's own thresholds, once for each run under way: they are set back by the last one."""


def collect_seldom() -> None:
    """Look for cycles less often until this process ends."""
    gc.set_threshold(*SELDOM)


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Look for cycles less often within it."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        collect_seldom()
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
