"""What the audit does with a value that it cannot read: it says so, and goes on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from chunkprep_store.audit.lists import UnreadableError

UNREAD = (
    UnreadableError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    zlib.error,
)  # fmt: skip
"""What reading a damaged value raises; never what a database that is away does."""


def cause(error: BaseException) -> str:
    """The error in words; of a KeyError, what was looked for."""
    if isinstance(error, KeyError):
        return f"{error} is not there"
    return str(error) or type(error).__name__


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Have an error say which row it is about. Raises UnreadableError for those of UNREAD."""
    try:
        yield
    except UNREAD as error:
        raise UnreadableError(f"{what}: {cause(error)}") from error
