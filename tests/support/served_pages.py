"""The inspector served on loopback by the real service, with its keys, limits and headers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.inspector import inspector_router
from chunkprep_packer.service.settings import ServiceSettings


@contextmanager
def served_pages(url: str) -> Iterator[str]:
    """The address of the running service over the store at `url`; it is stopped afterwards."""
    app = create_app(ServiceSettings(url), routers=[inspector_router()])
    config = uvicorn.Config(app, log_level="error", access_log=False, ws="none", lifespan="on")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
