"""What runs inside a reading process: reads one file after another until its input ends."""

from __future__ import annotations

import gc
import os
import sys
from typing import BinaryIO

from chunkprep_ingest.collecting import collect_seldom
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.reading_wire import Frame, answer, failure, read_frame, write_frame

_LIMIT = "CHUNKPREP_READER_MEMORY"
_PAGES = "/proc/self/statm"


def main() -> None:
    """Answer requests on standard input with frames on standard output."""
    # What libraries print must not reach the channel that answers go through.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    collect_seldom()
    _limit_memory(int(os.environ.get(_LIMIT, "0")))
    serve(sys.stdin.buffer, channel)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read what is asked for. Ends with the input, or after a file that took all memory."""
    while (asked := read_frame(requests)) is not None:
        reply, healthy = _reply(asked)
        reply.head["resident"] = _resident()
        write_frame(answers, reply)
        if not healthy:
            return


def _reply(asked: Frame) -> tuple[Frame, bool]:
    name = asked.head["name"]
    try:
        return answer(read(asked.data, name, ReadOptions(**asked.head["options"]))), True
    except ReadError as error:
        return failure(error), True
    except (MemoryError, RecursionError) as error:
        code = "out_of_memory" if isinstance(error, MemoryError) else "corrupt"
        detail = f"{name}: {type(error).__name__} in its reader"
    except Exception as error:  # one bad file must not end the process unexplained
        code, detail = "corrupt", f"{name}: {type(error).__name__} in its reader: {error}"[:500]
    gc.collect()
    return failure(ReadError(code, detail)), code != "out_of_memory"


def _limit_memory(limit: int) -> None:
    """Let allocations past `limit` bytes fail, where the system can count what is private."""
    try:
        import resource
    except ImportError:  # not on this system; the parent's time limit remains
        return
    if limit and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _resident() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not say."""
    try:
        with open(_PAGES, encoding="ascii") as file:  # noqa: PTH123 - no file, a kernel's answer
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
