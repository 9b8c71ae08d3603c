"""What each splitter and framework does and does not, found out by running it: `make compare`.

Prints the table of docs/why.md and exits with 1 where that page says otherwise; `--write` puts the
table there. A cell that nothing here runs links to the page that says so. Peers run as
benchmarks/requirements.lock pins them, each with a tokenizer that gives it its best chance.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.compared_packing import pack_rows
from benchmarks.compared_splitting import count_rows, split_rows
from benchmarks.comparison import (
    LANGCHAIN_EXPERIMENTAL,
    TEXT_SPLITTER,
    Row,
    as_markdown,
    linked,
    on_page,
    yes,
)  # fmt: skip

from chunkprep_ingest.policy import Policy

PAGE = Path(__file__).parents[1] / "docs" / "why.md"


def other_rows() -> dict[str, Row]:
    """What chunkprep refuses to do, or leaves to others."""
    import chonkie
    import langchain_text_splitters as langchain
    import semantic_text_splitter as text_splitter
    from langchain_core.vectorstores import VectorStore
    from llama_index.core import VectorStoreIndex, node_parser

    def takes(maker: Callable[..., object]) -> str:
        named = {*inspect.signature(maker).parameters, *str(inspect.getdoc(maker)).split()}
        return yes(any("overlap" in name for name in named))

    def has(module: object, name: str) -> str:
        return yes(hasattr(module, name))

    return {
        "overlap between chunks": {
            "chunkprep": yes("overlap" in Policy.__dataclass_fields__),
            "chonkie": takes(chonkie.SentenceChunker),
            "text-splitter": takes(text_splitter.MarkdownSplitter),
            "LangChain": takes(langchain.TextSplitter),
            "LlamaIndex": takes(node_parser.SentenceSplitter),
        },
        "splits by meaning, with embeddings": {
            "chunkprep": "no",
            "chonkie": has(chonkie, "SemanticChunker"),
            "text-splitter": has(text_splitter, "SemanticSplitter"),
            "LangChain": linked("in langchain-experimental", LANGCHAIN_EXPERIMENTAL),
            "LlamaIndex": has(node_parser, "SemanticSplitterNodeParser"),
        },
        "splits code by its syntax tree": {
            "chunkprep": "no",
            "chonkie": has(chonkie, "CodeChunker"),
            "text-splitter": has(text_splitter, "CodeSplitter"),
            "LangChain": "no: by keywords"
            if hasattr(langchain.RecursiveCharacterTextSplitter, "from_language")
            else "no",
            "LlamaIndex": has(node_parser, "CodeSplitter"),
        },
        "embeds, and searches vectors": {
            "chunkprep": "no: bring your index",
            "chonkie": "writes to stores" if hasattr(chonkie, "ChromaHandshake") else "no",
            "text-splitter": linked("no", TEXT_SPLITTER),
            "LangChain": has(VectorStore, "similarity_search"),
            "LlamaIndex": has(VectorStoreIndex, "as_retriever"),
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where docs/why.md has another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table onto the page")
    options = parser.parse_args(arguments)
    table = as_markdown(split_rows() | count_rows() | pack_rows() | other_rows())
    print(table)
    standing = PAGE.read_text(encoding="utf-8")
    wanted = on_page(standing, table)
    if options.write:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != standing:
        print(
            "docs/why.md says otherwise; `python -m benchmarks.compare_peers --write` mends it",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
