"""Opens a packer, packs, forks: the child tries what it can, then the parent packs again.

Arguments: the store's URL, how packs are logged, and the id of a chunk.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from chunkprep_ingest.errors import StoreError
from chunkprep_packer import Candidate, Packer, PackRequest


def attempt(name: str, work: Callable[[], object]) -> None:
    try:
        work()
    except StoreError as error:
        print(f"{name}: {error}", flush=True)
    else:
        print(f"{name}: answered", flush=True)


def forked(packer: Packer, request: PackRequest) -> None:
    """What the child does, before it ends as any program does."""
    signal.alarm(60)
    store = packer.store
    attempt("pack", lambda: packer.pack(request))
    attempt("flush", packer.flush)
    attempt("documents", lambda: list(store.documents("default")))
    attempt("packs", lambda: list(store.packs("default")))
    attempt("withdraw", lambda: store.withdraw("default", "refund.md", now=1))
    attempt("search", lambda: store.lookup("default", ["x"], at=1))
    attempt("vacuum", store.vacuum)
    packer.close()
    packer.close()
    print("closed: ", flush=True)


def main(url: str, mode: str, chunk: str) -> None:
    request = PackRequest(budget=500, candidates=[Candidate(chunk, 1.0)])
    packer = Packer.open(url, log=mode)  # type: ignore[arg-type]
    packer.pack(request, request_id="before")
    child = os.fork()
    if child == 0:
        forked(packer, request)
        return
    _, status = os.waitpid(child, 0)
    packer.pack(request, request_id="after")
    packer.close()
    code = os.waitstatus_to_exitcode(status)
    print(f"parent: child {code}, losses {packer.log_losses}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
