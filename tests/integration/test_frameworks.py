"""The adapters for LangChain and LlamaIndex, run by the real frameworks over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer import Packer, PackOptions, PackRequest, PackResult, PinText
from chunkprep_packer.langchain import ChunkprepCompressor
from chunkprep_packer.llamaindex import ChunkprepPostprocessor
from chunkprep_store import Store

COUNT = tiktoken_counter("o200k_base").count
NOW = 1_000_000_000
PARAGRAPH = "Refunds for order {n} are paid within {n} days. The same means of payment are used."


def text(start: int, paragraphs: int = 6) -> str:
    body = "\n\n".join(PARAGRAPH.format(n=n) for n in range(start, start + paragraphs))
    return f"# Refund policy\n\n{body}\n"


@pytest.fixture
def old() -> list[str]:
    """Filled with the chunk ids of the superseded version."""
    return []


@pytest.fixture
def packer(tmp_path: Path, old: list[str]) -> Iterator[Packer]:
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        ingest(store, "refund.md", text(1), now=NOW)
        old += chunk_ids(store, "refund.md")
        ingest(store, "refund.md", text(1, 5) + "\nA new rule.\n", now=NOW + 10)
        with Packer(store, clock=lambda: NOW + 100) as opened:
            yield opened


@pytest.fixture
def ids(packer: Packer) -> list[str]:
    """The chunk ids in force."""
    return chunk_ids(packer.store, "refund.md")


def documents(ids: list[str], **metadata: Any) -> list[Document]:
    """What a LangChain retriever over a vector store gives: ids in the metadata, and a score."""
    return [
        Document(
            page_content="as indexed",
            metadata={"chunk_id": name, "score": 1 - n / 100, "at": n, **metadata},
        )
        for n, name in enumerate(ids)
    ]


def nodes(ids: list[str]) -> list[NodeWithScore]:
    """What a LlamaIndex retriever gives: nodes whose ids are the chunk ids."""
    return [
        NodeWithScore(
            node=TextNode(id_=name, text="as indexed", metadata={"team": "care"}),
            score=1 - n / 100,
        )
        for n, name in enumerate(ids)
    ]


def joined(packed: list[Document]) -> str:
    return "".join(document.page_content for document in packed)


@pytest.mark.parametrize("order", ["rank", "best_last", "document"])
def test_langchain_gets_the_context_block_by_block(
    packer: Packer, ids: list[str], order: Any
) -> None:
    options = PackOptions(budget=120, order=order, ordinals=True, truncate="any", cut_at="sentence")
    compressor = ChunkprepCompressor(packer=packer, options=options)
    packed, result = compressor.packed(documents(ids), "how long?")
    assert joined(packed) == result.text
    assert COUNT(result.text) == result.used_tokens <= 120
    assert [d.id for d in packed] == [b.chunk_id for b in result.blocks]
    assert 1 < len(packed) < len(ids)
    for document in packed:
        facts = document.metadata["chunkprep"]
        assert COUNT(document.page_content) == facts["tokens"]
        assert ids[document.metadata["at"]] == document.id == facts["chunk_id"]
        assert facts["used_tokens"] == result.used_tokens


def test_langchain_runs_it_behind_a_retriever_in_a_chain(packer: Packer, ids: list[str]) -> None:
    seen: list[PackResult] = []
    compressor = ChunkprepCompressor(
        packer=packer, options=lambda question: PackOptions(budget=len(question) * 10),
        on_result=seen.append,
    )  # fmt: skip
    retriever: RunnableLambda[str, list[Document]] = RunnableLambda(lambda _: documents(ids))
    packing: RunnableLambda[str, list[Document]] = RunnableLambda(
        lambda question: list(compressor.compress_documents(retriever.invoke(question), question))
    )  # fmt: skip
    packed = packing.invoke("how long?")
    later = asyncio.run(compressor.acompress_documents(documents(ids), "how long?"))
    assert [result.slot for result in seen] == [90, 90]
    assert [joined(list(found)) for found in (packed, later)] == [seen[0].text] * 2


def test_a_cut_block_is_shown_as_it_was_cut(packer: Packer, ids: list[str]) -> None:
    options = PackOptions(budget=48, cut_at="sentence")
    packed, result = ChunkprepCompressor(packer=packer, options=options).packed(documents(ids[:1]))
    [document] = packed
    assert result.log.truncation_fired
    assert document.page_content == result.text
    assert document.metadata["chunkprep"]["outcome"] == "truncated"
    assert document.metadata["chunkprep"]["truncated"]["kind"]


def test_superseded_documents_are_left_out_or_forwarded(
    packer: Packer, ids: list[str], old: list[str]
) -> None:
    options = PackOptions(budget=500)
    compressor = ChunkprepCompressor(packer=packer, options=options)
    packed, result = compressor.packed(documents(old))
    assert (packed, result.text) == ([], "")
    assert {d.reason for d in result.decisions} == {"superseded"}
    forward = PackOptions(budget=500, on_superseded="forward")
    packed, _ = ChunkprepCompressor(packer=packer, options=forward).packed(documents(old[:1]))
    [document] = packed
    assert document.id in ids
    assert document.metadata["chunkprep"]["forwarded_from"] == old[0]
    assert document.metadata["at"] == 0


def test_pinned_blocks_and_the_closing_line_are_part_of_the_text(
    packer: Packer, ids: list[str]
) -> None:
    options = PackRequest(
        budget=130,
        candidates=[],
        pin=[ids[-1]],
        pin_text=[PinText("An upload.")],
        partial_note=True,
    )
    packed, result = ChunkprepCompressor(packer=packer, options=options).packed(documents(ids))
    assert [d.id for d in packed[:2]] == [ids[-1], None]
    assert packed[1].metadata["chunkprep"]["outcome"] == "pinned"
    assert result.text.startswith(joined(packed))
    assert result.text.removeprefix(joined(packed)).endswith("partial.)\n")
    assert COUNT(result.text) == result.used_tokens


def test_documents_without_scores_are_ranked_as_they_come(packer: Packer, ids: list[str]) -> None:
    found = [Document(id=name, page_content="x") for name in reversed(ids)]
    options = PackOptions(budget=1000)
    packed, _ = ChunkprepCompressor(packer=packer, options=options).packed(found)
    assert [d.id for d in packed] == ids[::-1]
    strict = ChunkprepCompressor(packer=packer, options=PackOptions(budget=9, min_score=0.5))
    with pytest.raises(RequestError, match="min_score: the retrieved items carry no scores"):
        strict.packed(found)
    with pytest.raises(RequestError, match="1 of 2 retrieved items have no score"):
        strict.packed([found[0], *documents(ids[:1])])


def test_documents_without_a_chunk_id_are_refused_or_dropped(
    packer: Packer, ids: list[str]
) -> None:
    found = [Document(page_content="from elsewhere", metadata={"score": 1.0}), *documents(ids)]
    options = PackOptions(budget=1000)
    with pytest.raises(RequestError, match="item 0 has neither metadata 'chunk_id' nor an id"):
        ChunkprepCompressor(packer=packer, options=options).compress_documents(found, "q")
    packed, result = ChunkprepCompressor(
        packer=packer, options=options, without_id="drop"
    ).packed(found)  # fmt: skip
    assert [d.id for d in packed] == ids
    assert result.log.offered == len(ids)
    named = [Document(page_content="x", metadata={"key": ids[0]})]
    compressor = ChunkprepCompressor(packer=packer, options=options, chunk_id_key="key")
    assert [d.id for d in compressor.compress_documents(named, "q")] == ids[:1]


def test_what_the_pack_warns_of_is_logged(packer: Packer, caplog: Any) -> None:
    compressor = ChunkprepCompressor(packer=packer, options=PackOptions(budget=100))
    assert compressor.compress_documents([Document(id="gone", page_content="x")], "q") == []
    assert "ids_unknown" in caplog.text


def test_diversity_takes_vectors_from_the_metadata(packer: Packer, ids: list[str]) -> None:
    found = documents(ids[:2], vector=[1.0, 0.0])
    compressor = ChunkprepCompressor(packer=packer, options=PackOptions(budget=900, mmr=0.5))
    _, result = compressor.packed(found)
    assert [d.reason for d in result.decisions] == [None, "not_diverse"]


def test_llamaindex_gets_the_context_node_by_node(packer: Packer, ids: list[str]) -> None:
    seen: list[PackResult] = []
    packing = ChunkprepPostprocessor(
        packer=packer, options=PackOptions(budget=120), on_result=seen.append
    )
    packed = packing.postprocess_nodes(nodes(ids), query_str="how long?")
    later = asyncio.run(packing.apostprocess_nodes(nodes(ids), query_str="how long?"))
    [result, _] = seen
    for mode in MetadataMode:
        if mode is not MetadataMode.ALL:
            assert "".join(n.get_content(mode) for n in packed) == result.text
    assert COUNT(result.text) == result.used_tokens <= 120
    assert [n.node_id for n in packed] == [b.chunk_id for b in result.blocks] == ids[: len(packed)]
    assert [n.score for n in packed] == [b.score for b in result.blocks]
    assert [n.node_id for n in later] == [n.node_id for n in packed]
    assert packed[0].metadata["team"] == "care"
    assert packed[0].metadata["chunkprep"]["outcome"] == "packed"


def test_llamaindex_ids_may_stand_in_the_metadata(packer: Packer, ids: list[str]) -> None:
    found = [NodeWithScore(node=TextNode(text="x", metadata={"key": name})) for name in ids[:2]]
    packing = ChunkprepPostprocessor(
        packer=packer, options=PackOptions(budget=900), chunk_id_key="key"
    )
    assert [n.node_id for n in packing.postprocess_nodes(found)] == ids[:2]


def test_llamaindex_embeddings_serve_diversity(packer: Packer, ids: list[str]) -> None:
    found = nodes(ids[:2])
    for node in found:
        node.node.embedding = [1.0, 0.0]
    packing = ChunkprepPostprocessor(packer=packer, options=PackOptions(budget=900, mmr=0.5))
    _, result = packing.packed(found, QueryBundle("q", embedding=[0.0, 1.0]))
    assert [d.reason for d in result.decisions] == [None, "not_diverse"]
