"""How a run takes the steps that talk to the store and to sources: as they are, or by a runner that
tries them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Step(Protocol):
    """Takes a step of this name; `work` may be called more than once."""

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        """What `work` returns."""
        ...


def at_once(name: str, work: Callable[[], T]) -> T:
    """Take a step with one try."""
    del name
    return work()
