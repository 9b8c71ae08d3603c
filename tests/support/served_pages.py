"""The inspector served on loopback, over one store."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from chunkprep_flows.opened import now
from chunkprep_packer.pages.router import pages_router
from chunkprep_store import Store


@contextmanager
def served_pages(store: Store) -> Iterator[str]:
    """The address of a running server; it is stopped afterwards."""
    app = FastAPI()
    app.include_router(pages_router(lambda _: store, clock=now))
    config = uvicorn.Config(app, log_level="error", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
