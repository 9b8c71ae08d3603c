"""The client against the real service: the same answers as a packer in this process."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest
from tests.e2e.conftest import Cli
from tests.support.clients import Connect, both_clients
from tests.support.serving import serving

from chunkprep_ingest.errors import (
    NotFoundError,
    PinsExceedSlot,
    RequestError,
    ServiceError,
    UnavailableError,
)
from chunkprep_packer import Packer, PackOptions, PackRequest
from chunkprep_packer.client import AsyncClient
from chunkprep_packer.langchain import ChunkprepCompressor


@both_clients
def test_the_client_does_over_http_what_the_packer_does_here(
    connect: Connect, ingested: Cli
) -> None:
    from langchain_core.documents import Document

    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    with serving(store, ingested.folder) as served, connect(served.url) as client:
        hits = client.search("how long is the refund window", top=8, any_status=True)
        request = PackRequest(budget=600, candidates=hits, order="edges", ordinals=True)
        with Packer.open(store, log="off") as packer:
            here = packer.pack(request)
        there = client.pack(request)
        assert len(there.blocks) > 1
        assert there.model_copy(update={"request_id": here.request_id}) == here

        found = [Document(id=hit.chunk_id, page_content="as indexed") for hit in hits]
        compressor = ChunkprepCompressor(packer=client, options=PackOptions(budget=600))
        packed, result = compressor.packed(found)
        assert "".join(document.page_content for document in packed) == result.text != ""

        assert client.chunk(hits[0].chunk_id)["chunk_id"] == hits[0].chunk_id
        documents = [document["document"] for document in client.documents()]
        assert documents == [line["document"] for line in ingested.lines("docs")]
        [first, *_] = changes = client.changes(limit=2)
        assert len(changes) == 2
        assert client.changes(first["cursor"], limit=1) == changes[1:]

        audited = client.audit(checks=["low_coverage", "policy_drift"])
        wanted = ingested.lines("audit", "--check", "low_coverage", "--check", "policy_drift")
        assert (audited["findings"], audited["truncated"]) == (wanted, False)
        logged = logged_soon(client, there.request_id)
        assert logged["used_tokens"] == there.used_tokens
        assert len(logged["result"]["decisions"]) == len(hits)
        with pytest.raises(NotFoundError, match="in the log"):
            client.logged_pack("no such pack")

        with pytest.raises(NotFoundError):
            client.chunk("no/such chunk")
        with pytest.raises(NotFoundError, match="nowhere"):
            client.pack(request.model_copy(update={"collection": "nowhere"}))
        with pytest.raises(RequestError, match="top") as wrong:
            client.search("refund", top=0)
        assert wrong.value.field == "top"
        with pytest.raises(PinsExceedSlot):
            client.pack(PackRequest(budget=5, candidates=hits, pin=[there.blocks[0].document]))


def logged_soon(client: Any, request_id: str) -> dict[str, Any]:
    """The pack, once the log's writer has come to it."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return cast(dict[str, Any], client.logged_pack(request_id))
        except NotFoundError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@both_clients
def test_a_key_is_asked_for_once_there_is_one(connect: Connect, ingested: Cli) -> None:
    key = ingested.json("keys", "add", "assistant")["key"]
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    with serving(store, ingested.folder) as served:
        url = served.url
        with connect(url, key=key) as client:
            assert client.search("refund window")
            with pytest.raises(ServiceError) as refused:
                client.changes()
            assert (refused.value.status, refused.value.problem) == (403, "forbidden")
        with connect(url) as stranger, pytest.raises(ServiceError, match="valid API key") as caught:
            stranger.search("refund window")
        assert (caught.value.status, caught.value.problem) == (401, "unauthorized")


def test_many_calls_at_a_time_each_get_their_own_answer(ingested: Cli) -> None:
    with (
        serving(ingested.url, ingested.folder, "--workers", "2") as served,
        Packer.open(ingested.url, log="off") as packer,
    ):

        async def main() -> None:
            async with AsyncClient(served.url, timeout=60) as client:
                hits = await client.search("how long is the refund window", top=8)
                requests = [PackRequest(budget=200 + n, candidates=hits) for n in range(200)]
                packs = asyncio.gather(*(client.pack(request) for request in requests))
                searches = asyncio.gather(*(client.search("refund", top=n) for n in range(1, 9)))
                there = await packs
                assert [len(found) for found in await searches] == [*range(1, 9)]
                here = [packer.pack(request) for request in requests]
                assert [each.text for each in there] == [each.text for each in here]
                assert [each.slot for each in there] == [request.budget for request in requests]
                assert len({each.request_id for each in there}) == len(requests)
                assert [doc async for doc in client.documents()] == ingested.lines("docs")

        asyncio.run(main())


def test_calls_that_are_cancelled_leave_the_client_and_the_service_usable(ingested: Cli) -> None:
    with serving(ingested.url, ingested.folder) as served:

        async def main() -> None:
            async with AsyncClient(served.url, timeout=60, connections=4) as client:
                hits = await client.search("how long is the refund window", top=8)
                request = PackRequest(budget=600, candidates=hits)
                whole = await client.pack(request)
                for turns in range(30):
                    tasks = [asyncio.create_task(client.pack(request)) for _ in range(8)]
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                packs = asyncio.gather(*(client.pack(request) for _ in range(8)))
                again = await asyncio.wait_for(packs, 60)
                assert {each.text for each in again} == {whole.text}

        asyncio.run(main())


def test_a_service_that_is_away_is_told_and_its_return_is_found(ingested: Cli) -> None:
    async def main() -> None:
        with serving(ingested.url, ingested.folder) as served:
            client = AsyncClient(served.url, timeout=60)
            hits = await client.search("refund window", top=3)
            served.stop()
            request = PackRequest(budget=600, candidates=hits)
            calls = (client.pack(request) for _ in range(20))
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(each) for each in found} == {UnavailableError}
            assert f"{served.url} does not answer" in str(found[0])
        with serving(ingested.url, ingested.folder, port=served.port):
            assert (await client.pack(request)).blocks
            await client.aclose()

    asyncio.run(main())
