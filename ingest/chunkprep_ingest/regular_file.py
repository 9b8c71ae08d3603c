"""Reading regular files only: what became a pipe or a device since it was listed would hang."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from chunkprep_ingest.errors import ReadError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def regular_bytes(path: str | Path) -> bytes:
    """The bytes of a document's file. Raises ReadError (unreadable), as for what is no file."""
    try:
        return read_regular(path)
    except OSError as error:
        raise ReadError("unreadable", f"{path}: {error.strerror or error}") from error


def read_regular(path: str | Path) -> bytes:
    """The file's bytes. Raises OSError, also for what is no regular file.

    What is opened is asked, not its name, so that nothing can be put in its place between; opening
    a pipe without a writer, or a device, does not wait.
    """
    with open(path, "rb", opener=_open_regular) as file:
        return file.read()


def _open_regular(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _FLAGS)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(kind, "not a regular file")
    return descriptor
