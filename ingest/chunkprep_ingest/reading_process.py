"""Reading in a process of its own: a file that hangs, crashes or eats memory fails alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from chunkprep_ingest.closing import Closing
from chunkprep_ingest.errors import ChunkprepError, ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.options import MEBIBYTE, ReadOptions
from chunkprep_ingest.reading_wire import Frame, outcome, read_frame, request, write_frame
from chunkprep_ingest.regular_file import regular_bytes

_MODULE = "chunkprep_ingest.reading_worker"
_MEMORY = "CHUNKPREP_READER_MEMORY"
_GRACE = 2.0  # seconds for a process to end after its input did
_NEARLY = 0.8  # of the memory limit: a crash this close to it is taken for want of memory


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one file may take. `seconds` counts the reader's import on its first file.

    A process is replaced after `files` files, or once it holds `recycle_bytes` after one.
    """

    seconds: float = 120.0
    memory_bytes: int = 2048 * MEBIBYTE
    files: int = 500
    recycle_bytes: int = 1024 * MEBIBYTE

    def __post_init__(self) -> None:
        """Refuse limits that would let nothing through."""
        for name in ("seconds", "memory_bytes", "files", "recycle_bytes"):
            if getattr(self, name) <= 0:
                raise ChunkprepError(f"{name} must be above 0, not {getattr(self, name)}")


class IsolatedReader(Closing):
    """Reads files in one reused process. One read at a time; calls from threads queue.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, limits: ReadLimits | None = None) -> None:
        self.limits = limits or ReadLimits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: _Watcher | None = None
        self._files = 0

    def read(
        self, source: bytes | Path, name: str, options: ReadOptions | None = None
    ) -> ParsedDocument:
        """The document in `source` (its bytes, or a path), as `chunkprep_ingest.readers.read`.

        Raises ReadError; besides the codes of `read`: unreadable, timed_out, out_of_memory, and
        corrupt where the file crashed its process.
        """
        data = source if isinstance(source, bytes) else regular_bytes(source)
        asked = request(name, data, options or ReadOptions())
        with self._lock:
            frame = self._ask(asked, name)
            self._files += 1
            if self._is_worn(frame):
                self._end()
        return outcome(frame)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ask(self, asked: Frame, name: str) -> Frame:
        process = self._running()
        watcher = cast(_Watcher, self._watcher)
        try:
            with watcher:
                write_frame(cast(BinaryIO, process.stdin), asked)
                frame = read_frame(cast(BinaryIO, process.stdout))
        except (BrokenPipeError, ConnectionResetError):
            frame = None
        except BaseException:  # interrupted: what the process would answer is nobody's answer
            self._kill(process)
            raise
        if frame is None:
            raise self._failure(process, name, late=watcher.passed)
        return frame

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = _start(self.limits)
            self._watcher = _Watcher(self._process, self.limits.seconds)
            self._files = 0
        return self._process

    def _is_worn(self, frame: Frame) -> bool:
        return (
            self._files >= self.limits.files
            or frame.head["resident"] > self.limits.recycle_bytes
            or frame.head.get("error") == "out_of_memory"
        )

    def _failure(self, process: subprocess.Popen[bytes], name: str, *, late: bool) -> ReadError:
        self._forget()
        peak = _reap(process)
        code = process.returncode
        if late:
            return ReadError(
                "timed_out", f"{name} was not read within {self.limits.seconds:g} seconds"
            )
        if code == -signal.SIGKILL or peak > self.limits.memory_bytes * _NEARLY:
            return ReadError("out_of_memory", f"{name} took more memory than there is")
        ended = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return ReadError("corrupt", f"{name} crashed its reader ({ended})")

    def _end(self) -> None:
        process = self._process
        if process is None:
            return
        self._forget()
        _close(process)
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._kill(process)

    def _forget(self) -> None:
        self._process = None
        if self._watcher is not None:
            self._watcher.end()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        self._forget()
        _kill_all(process)
        process.wait()
        _close(process)


class _Watcher:
    """Kills a process whose file takes too long; `passed` tells whether it did.

    One thread for the life of the process: a thread for each file costs more than a small file
    does. All files have the same time, so that a file begun later is never due earlier, and the
    thread needs no waking.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self.passed = False
        self._process = process
        self._seconds = seconds
        self._due: float | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="reader-watcher", daemon=True)
        self._thread.start()

    def __enter__(self) -> None:
        self._due = time.monotonic() + self._seconds

    def __exit__(self, *details: object) -> None:
        with self._lock:
            self._due = None

    def end(self) -> None:
        """Watch no longer."""
        self._over.set()

    def _watch(self) -> None:
        wait = self._seconds
        while not self._over.wait(min(wait, threading.TIMEOUT_MAX)):
            with self._lock:
                now, due = time.monotonic(), self._due
                if due is not None and now >= due:
                    self.passed = True
                    _kill_all(self._process)
                    return
                wait = self._seconds if due is None else due - now


def _start(limits: ReadLimits) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        _MEMORY: str(limits.memory_bytes),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    return subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C is for the parent, which ends at a document's border
    )


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it started: it leads a session of its own."""
    if hasattr(os, "killpg") and process.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _reap(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process that ended; its peak memory in bytes, 0 where that is not known."""
    peak = 0
    if hasattr(os, "wait4") and process.returncode is None:
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        except ChildProcessError:
            pass
    process.wait()
    _close(process)
    return peak


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:  # what was still to be written goes nowhere
            pass
