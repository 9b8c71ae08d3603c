"""A way to a server that can be cut, and opened again at the same address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Relay:
    """Passes on what comes to its port of the loopback; nobody can connect while it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: list[socket.socket] = []
        self.flowing = threading.Event()
        """Where it is not set, whoever connects hears nothing."""
        self.flowing.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._listen()

    def cut(self) -> None:
        """Whoever is connected is thrown out, too."""
        ended = [self._listening, *self._open]
        self._open = []
        for each in ended:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def mend(self) -> None:
        """It passes on again."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self._listen()

    def _listen(self) -> None:
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):  # it was cut
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                for each in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=each, daemon=True).start()

    def _pass_on(self, come_from: socket.socket, go_to: socket.socket) -> None:
        with suppress(OSError):
            while data := come_from.recv(65536):
                self.flowing.wait()
                go_to.sendall(data)
        with suppress(OSError):
            go_to.shutdown(socket.SHUT_RDWR)


@contextmanager
def relayed(address: str) -> Iterator[tuple[Relay, str]]:
    """A relay to the HTTP server of that address, and the address to reach it by."""
    port = address.split(":")[2].partition("/")[0]
    relay = Relay(int(port))
    try:
        yield relay, address.replace(f":{port}", f":{relay.port}")
    finally:
        relay.cut()
