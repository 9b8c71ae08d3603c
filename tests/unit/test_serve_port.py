"""Where nobody can listen: said in one line, before the server starts."""

from __future__ import annotations

import socket

import pytest

from chunkprep_flows.commands.serve import check_free
from chunkprep_ingest.errors import ChunkprepError


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ChunkprepError, match=f"port {port} of 127.0.0.1 is in use; stop"):
            check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)


def test_a_host_that_is_not_this_machine_is_named() -> None:
    with pytest.raises(ChunkprepError, match=r"192.0.2.1 port 8000: .*; name another --host"):
        check_free("192.0.2.1", 8000)
