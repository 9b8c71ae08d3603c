"""The public splitters that ours is measured beside, each on its own defaults.

`make bench-split` installs what benchmarks/requirements.lock pins; one that is missing is named.
"""

from __future__ import annotations

from collections.abc import Callable

Splitter = Callable[[str], list[str]]
"""The chunks of one text, in order."""


def peers(encoding: str, cap: int, count: Callable[[str], int]) -> dict[str, Splitter]:
    """Each peer at a cap of `cap` tokens of a tiktoken encoding.

    Peers get our own offline counter where they take a function, so that all count alike.
    """
    made: dict[str, Splitter] = {}
    for name, make in _MAKERS.items():
        try:
            made[name] = make(encoding, cap, count)
        except ImportError:
            print(f"({name} is not installed: left out)")
    return made


def _chonkie_recursive(_: str, cap: int, count: Callable[[str], int]) -> Splitter:
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=count, chunk_size=cap)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


def _chonkie_sentence(_: str, cap: int, count: Callable[[str], int]) -> Splitter:
    from chonkie import SentenceChunker

    chunker = SentenceChunker(tokenizer=count, chunk_size=cap, chunk_overlap=0)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


def _langchain(_: str, cap: int, count: Callable[[str], int]) -> Splitter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=cap, chunk_overlap=0, length_function=count, keep_separator="end"
    )
    return splitter.split_text


def _text_splitter(_: str, cap: int, count: Callable[[str], int]) -> Splitter:
    from semantic_text_splitter import MarkdownSplitter

    return MarkdownSplitter.from_callback(count, cap).chunks


def _llama_index(_: str, cap: int, count: Callable[[str], int]) -> Splitter:
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(
        chunk_size=cap, chunk_overlap=0, tokenizer=lambda text: [0] * count(text)
    )
    return splitter.split_text


_MAKERS: dict[str, Callable[[str, int, Callable[[str], int]], Splitter]] = {
    "chonkie recursive": _chonkie_recursive,
    "chonkie sentence": _chonkie_sentence,
    "langchain recursive": _langchain,
    "text-splitter Markdown": _text_splitter,
    "llama-index sentence": _llama_index,
}
