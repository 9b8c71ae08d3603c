"""The client against the real service: the same answers as a packer in this process."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.e2e.conftest import Cli
from tests.support.serving import serving

from chunkprep_ingest.errors import NotFoundError, PinsExceedSlot, RequestError, ServiceError
from chunkprep_packer import Packer, PackOptions, PackRequest
from chunkprep_packer.client import Client
from chunkprep_packer.langchain import ChunkprepCompressor


def test_the_client_does_over_http_what_the_packer_does_here(ingested: Cli) -> None:
    from langchain_core.documents import Document

    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    with serving(store, ingested.folder) as served, Client(served.url) as client:
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


def logged_soon(client: Client, request_id: str) -> dict[str, Any]:
    """The pack, once the log's writer has come to it."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return client.logged_pack(request_id)
        except NotFoundError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_key_is_asked_for_once_there_is_one(ingested: Cli) -> None:
    key = ingested.json("keys", "add", "assistant")["key"]
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    with serving(store, ingested.folder) as served:
        url = served.url
        with Client(url, key=key) as client:
            assert client.search("refund window")
            with pytest.raises(ServiceError) as refused:
                client.changes()
            assert (refused.value.status, refused.value.problem) == (403, "forbidden")
        with Client(url) as stranger, pytest.raises(ServiceError, match="valid API key") as caught:
            stranger.search("refund window")
        assert (caught.value.status, caught.value.problem) == (401, "unauthorized")
