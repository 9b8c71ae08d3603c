"""How contexts are packed, and what becomes of a document that changes: by us and by frameworks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import regex
from benchmarks.comparison import CHONKIE, TEXT_SPLITTER, Row, linked, nothing_of, squeezed, yes
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import TiktokenCounter, tiktoken_counter
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store

COUNT = tiktoken_counter("o200k_base").count


@contextmanager
def counted_calls() -> Iterator[list[str]]:
    """What our tokenizer is asked to count meanwhile."""
    asked: list[str] = []
    count, counts, running = (
        getattr(TiktokenCounter, name) for name in ("count", "counts", "running")
    )

    def noted(call: Callable[..., Any]) -> Callable[..., Any]:
        def noting(counter: TiktokenCounter, text: str | Sequence[str]) -> Any:
            asked.extend([text] if isinstance(text, str) else text)
            return call(counter, text)

        return noting

    noting = {"count": noted(count), "counts": noted(counts), "running": noted(running)}
    with mock.patch.multiple(TiktokenCounter, **noting):
        yield asked


LONG = "A refund is paid within a week of the day on which it was asked for. " * 12


def ours_packed() -> Row:
    """A store of two documents, one of them replaced, packed now, as of before, and again."""
    with tempfile.TemporaryDirectory() as name:
        url = f"sqlite:///{Path(name) / 'store.db'}"
        with Store.open(url) as store:
            ingest(store, "fares.md", "The fare is 100.", now=1_000_000, cap=400)
            ingest(store, "rules.md", LONG, now=1_000_000, cap=400)
            old, rules = chunk_ids(store, "fares.md")[0], chunk_ids(store, "rules.md")[0]
            ingest(store, "fares.md", "The fare is 120.", now=2_000_000, cap=400)
        with Packer.open(url) as packer:
            with counted_calls() as asked:
                cut = packer.pack(
                    PackRequest(budget=60, cut_at="sentence", candidates=[Candidate(rules, 0.9)])
                )
            lagging = PackRequest(budget=400, candidates=[Candidate(old, 0.9)])
            now, then = (
                packer.pack(lagging),
                packer.pack(PackRequest(**{**vars(lagging), "as_of": "1970-01-01T00:00:01.500Z"})),
            )
            packer.flush()
    marked = TEMPLATES["markdown"].marker in cut.text
    return {
        "texts tokenized to pack a context": f"{len(asked)}",
        "a cut passage says so": yes(marked and cut.blocks[0].truncated is not None),
        "a changed document's old text stays out": yes("100" not in now.text),
        "what was in force on an earlier day": yes("100" in then.text),
    }


def langchain_packed() -> Row:
    """Its message trimmer, and its indexing API over two versions of a document."""
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.indexing import InMemoryRecordManager, index
    from langchain_core.messages import BaseMessage, HumanMessage, trim_messages
    from langchain_core.vectorstores import InMemoryVectorStore

    asked: list[int] = []

    def count(messages: Sequence[BaseMessage]) -> int:
        asked.append(len(messages))
        return sum(COUNT(str(message.content)) for message in messages)

    trimmed = trim_messages(
        [HumanMessage(LONG)], max_tokens=60, token_counter=count, strategy="first",
        allow_partial=True, text_splitter=lambda text: regex.findall(r"[^.]*\. ?", text),
    )  # fmt: skip
    cut = str(trimmed[0].content)

    def stored(cleanup: Literal["incremental"] | None) -> set[str]:
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
        records = InMemoryRecordManager("documents")
        records.create_schema()
        for text in ("The fare is 100.", "The fare is 120."):
            document = Document(text, metadata={"source": "fares.md"})
            index(
                [document], records, store, cleanup=cleanup, source_id_key="source",
                key_encoder="sha256",
            )  # fmt: skip
        return {entry["text"] for entry in store.store.values()}

    kept, cleaned = stored(None), stored("incremental")
    return {
        "texts tokenized to pack a context": f"{sum(asked)} for one message cut",
        "a cut passage says so": yes(not squeezed(LONG).startswith(squeezed(cut))),
        "a changed document's old text stays out": yes(len(kept) == 1)
        + (" by default, yes with a clean-up" if len(cleaned) == 1 else ""),
        "what was in force on an earlier day": "no: the clean-up deletes it"
        if len(cleaned) == 1
        else "no",
    }


def llama_packed() -> Row:
    """Its prompt helper, and its ingestion pipeline over two versions of a document."""
    from llama_index.core import Document, MockEmbedding
    from llama_index.core.indices.prompt_helper import PromptHelper
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.prompts import PromptTemplate
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores import SimpleVectorStore

    asked: list[str] = []

    def tokens(text: str) -> list[int]:
        asked.append(text)
        return [0] * COUNT(text)

    helper = PromptHelper(context_window=80, num_output=10, tokenizer=tokens)
    [cut] = helper.truncate(PromptTemplate("Answer from {context_str}"), [LONG])
    calls = len(asked)
    vectors = SimpleVectorStore()
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(tokenizer=tokens), MockEmbedding(4)],
        docstore=SimpleDocumentStore(), vector_store=vectors,
        docstore_strategy=DocstoreStrategy.UPSERTS,
    )  # fmt: skip
    for text in ("The fare is 100.", "The fare is 120."):
        pipeline.run(documents=[Document(text=text, id_="fares.md")])
    replaced = len(vectors.data.embedding_dict) == 1
    return {
        "texts tokenized to pack a context": f"{calls} for one passage cut",
        "a cut passage says so": yes(not squeezed(LONG).startswith(squeezed(cut))),
        "a changed document's old text stays out": yes(replaced),
        "what was in force on an earlier day": "no: it is deleted" if replaced else "no",
    }


def pack_rows() -> dict[str, Row]:
    """Rows of packing and of time; splitters do neither."""
    columns = {
        "chunkprep": ours_packed(),
        "LangChain": langchain_packed(),
        "LlamaIndex": llama_packed(),
    }
    neither = {
        "chonkie": linked("keeps no versions", CHONKIE),
        "text-splitter": linked("stores nothing", TEXT_SPLITTER),
    }
    rows = {row: {c: columns[c][row] for c in columns} | neither for row in columns["chunkprep"]}
    rows["texts tokenized to pack a context"] |= {
        "chonkie": linked("does not pack", CHONKIE),
        "text-splitter": linked("does not pack", TEXT_SPLITTER),
    }
    rows["a cut passage says so"] |= {
        "chonkie": linked("does not cut", CHONKIE),
        "text-splitter": linked("does not cut", TEXT_SPLITTER),
    }
    ours = {
        "a rule in force from a day, or replaced by another": "[yes](versions.md)",
        "why each candidate was packed or not": "[yes](howto/tune.md)",
        "a logged context made again, byte for byte": "[yes](howto/tune.md)",
        "an audit of all that is stored": "[yes](howto/audit.md)",
    }
    return rows | {row: {"chunkprep": cell, **nothing_of()} for row, cell in ours.items()}
