"""What is the asynchronous client's own: the shape of the other one, and many calls at a time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.support.clients import Connect, both_clients

from chunkprep_ingest.errors import RequestError
from chunkprep_packer.client import AsyncClient, Client

PATIENCE_SECONDS = 30
ANSWER = b'{"changes": []}'


class HeldServer:
    """Answers every request with ANSWER once its gate is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.change = asyncio.Condition()
        self.opened = self.open = self.most_open = self.asked = 0
        self.url = ""
        self.tasks: set[asyncio.Task[object] | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.tasks.add(asyncio.current_task())
        await self._count(1)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                await self._count(0)
                await self.gate.wait()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(ANSWER))
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
        finally:
            await self._count(-1)

    async def until(self, *, asked: int) -> None:
        """Wait for so many requests."""
        async with self.change:
            await self.change.wait_for(lambda: self.asked >= asked)

    async def _count(self, more: int) -> None:
        async with self.change:
            self.open += more
            self.opened += more > 0
            self.most_open = max(self.most_open, self.open)
            self.change.notify_all()


@asynccontextmanager
async def held_server() -> AsyncIterator[HeldServer]:
    held = HeldServer()
    server = await asyncio.start_server(held.serve, "127.0.0.1", 0)
    held.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield held
    finally:
        server.close()
        async with held.change:
            await held.change.wait_for(lambda: held.open == 0)


def public(kind: type[object]) -> dict[str, object]:
    """The methods of a class and their parameters, and how it is made."""
    found = {name: each for name, each in inspect.getmembers(kind) if not name.startswith("_")}
    return {
        ("close" if name == "aclose" else name): shape(each)
        for name, each in {**found, "": kind.__init__}.items()
    }


def shape(member: object) -> object:
    """The parameters by name, kind, default and type; `sleep` alone is each one's own."""
    if not callable(member):
        return type(member)
    own = inspect.Parameter.empty
    return [
        (name, each.kind, *((own, own) if name == "sleep" else (each.default, each.annotation)))
        for name, each in inspect.signature(member).parameters.items()
    ]


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    assert public(AsyncClient) == public(Client)
    assert len(public(Client)) > 8


def test_both_clients_give_back_the_same() -> None:
    for name in {*public(Client)} - {"", "close", "url"}:
        here, there = getattr(Client, name), getattr(AsyncClient, name)
        given = inspect.signature(there).return_annotation
        assert (
            given.replace("AsyncIterator", "Iterator") == inspect.signature(here).return_annotation
        )
        listed = given.startswith("AsyncIterator")
        assert inspect.isasyncgenfunction(there) is listed
        assert inspect.iscoroutinefunction(there) is not listed


def test_calls_one_after_another_share_a_connection() -> None:
    async def main() -> None:
        async with held_server() as server:
            server.gate.set()
            async with AsyncClient(server.url) as client:
                for _ in range(10):
                    assert await client.changes() == []
            assert (server.asked, server.opened) == (10, 1)

    asyncio.run(main())


def test_calls_beyond_the_connections_wait_for_one() -> None:
    async def main() -> None:
        async with held_server() as server, AsyncClient(server.url, connections=3) as client:
            tasks = [asyncio.create_task(client.changes()) for _ in range(30)]
            await server.until(asked=3)
            server.gate.set()
            assert await asyncio.gather(*tasks) == [[]] * 30
            assert (server.most_open, server.opened, server.asked) == (3, 3, 30)
            await client.aclose()

    asyncio.run(main())


def test_cancelled_calls_give_their_connections_back() -> None:
    async def main() -> None:
        async with held_server() as server, AsyncClient(server.url, connections=3) as client:
            tasks = [asyncio.create_task(client.changes()) for _ in range(30)]
            await server.until(asked=3)  # these are asked, the others wait
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(each) for each in ended} == {asyncio.CancelledError}
            server.gate.set()
            again = asyncio.gather(*(client.changes() for _ in range(30)))
            assert await asyncio.wait_for(again, PATIENCE_SECONDS) == [[]] * 30
            await client.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("turns", range(40))
def test_a_call_may_be_cancelled_wherever_it_is(turns: int) -> None:
    """asyncio's cancelling reaches into httpcore's clean-up: there each one lost a connection."""

    async def main() -> None:
        async with held_server() as server, AsyncClient(server.url, connections=2) as client:
            server.gate.set()
            for _ in range(3):
                task = asyncio.create_task(client.changes())
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            assert await asyncio.wait_for(client.changes(), PATIENCE_SECONDS) == []
            await client.aclose()

    asyncio.run(main())


def test_a_client_may_be_closed_while_a_cancelled_call_is_on_its_way_out() -> None:
    async def main() -> None:
        async with held_server() as server, AsyncClient(server.url) as client:
            task = asyncio.create_task(client.changes())
            await server.until(asked=1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await client.aclose()
            await client.aclose()
            assert asyncio.all_tasks() - {asyncio.current_task()} <= server.tasks
            server.gate.set()

    asyncio.run(main())


@both_clients
def test_no_connections_at_all_are_refused(connect: Connect) -> None:
    with pytest.raises(RequestError, match="connections: must be at least 1"):
        connect("http://127.0.0.1:8000", connections=0)
