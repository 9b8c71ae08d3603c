"""What splitters make of documents that break splitters, and what their chunks carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import regex
from benchmarks.comparison import COLUMNS, Row, squeezed, yes
from benchmarks.peers import peers
from tests.support.nasty import nasty_document

from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

ENCODING, CAP, DOCUMENTS = "o200k_base", 64, 200
COUNT = tiktoken_counter(ENCODING).count
CLUSTERS = regex.compile(r"\X")
SPLITTERS = {
    "chonkie": "chonkie recursive",
    "text-splitter": "text-splitter Markdown",
    "LangChain": "langchain recursive",
    "LlamaIndex": "llama-index sentence",
}

Extent = tuple[int, int]


def texts() -> list[str]:
    """Documents of what breaks splitters; tests/support/nasty.py makes them."""
    return [nasty_document(seed).text for seed in range(DOCUMENTS)]


def located(text: str, chunks: Iterable[str]) -> Iterator[Extent]:
    """Where chunks stand in their text; one that is not there as it is, is left out."""
    at = 0
    for chunk in chunks:
        start = text.find(chunk, at)
        if start >= 0:
            at = start + len(chunk)
            yield start, at


def cut_clusters(text: str, extents: Iterable[Extent]) -> int:
    """Edges of chunks inside a grapheme cluster."""
    edges = {0, *(match.end() for match in CLUSTERS.finditer(text))}
    return len({at for extent in extents for at in extent} - edges)


def judged(costs: Sequence[int], cut: int, changed: int) -> Row:
    """The cells of one splitter, by row."""
    over = sum(cost > CAP for cost in costs)
    return {
        "chunks over the cap": f"{over:,} of {len(costs):,}",
        "edges inside a grapheme cluster": f"{cut:,}",
        "documents whose text is not given back": f"{changed:,}",
    }


def ours_judged() -> Row:
    """Our cap is on the whole block: header, text and delimiter."""
    template = TEMPLATES["markdown"]
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, template)
    costs: list[int] = []
    cut = changed = 0
    for seed in range(DOCUMENTS):
        parsed = nasty_document(seed)
        chunks = split(parsed, "A title", Policy(cap=CAP), profile, counter)
        costs += [COUNT(c.header + c.text + template.delimiter) for c in chunks]
        extents = [(c.start, c.end) for c in chunks]
        cut += cut_clusters(parsed.text, extents)
        held = "".join(parsed.text[a:b] for a, b in extents)
        changed += squeezed(held) != squeezed(parsed.text)
    return judged(costs, cut, changed)


def peer_judged(cut_up: Callable[[str], list[str]]) -> Row:
    """A peer's cap is on the text of a chunk alone."""
    costs: list[int] = []
    cut = changed = 0
    for text in texts():
        chunks = cut_up(text)
        costs += [COUNT(chunk) for chunk in chunks]
        cut += cut_clusters(text, located(text, chunks))
        changed += squeezed("".join(chunks)) != squeezed(text)
    return judged(costs, cut, changed)


def chonkie_recursive() -> Callable[[str], list[str]]:
    """With a real tokenizer, which it needs for text without separators, and no special tokens,
    at whose text it would stop.
    """
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=_encoding(), chunk_size=CAP)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


def _encoding() -> object:
    import tiktoken

    from chunkprep_ingest.tokens import _offline_constructors

    made = _offline_constructors([])[ENCODING]()
    return tiktoken.Encoding(**{**made, "special_tokens": {}})


def split_rows() -> dict[str, Row]:
    """Rows of splitting; a column for each splitter."""
    splitters = {column: peers(ENCODING, CAP, COUNT)[name] for column, name in SPLITTERS.items()}
    splitters["chonkie"] = chonkie_recursive()
    columns = {"chunkprep": ours_judged()}
    columns |= {column: peer_judged(each) for column, each in splitters.items()}
    return {row: {c: columns[c][row] for c in COLUMNS} for row in columns["chunkprep"]}


def count_rows() -> dict[str, Row]:
    """What a chunk carries."""
    from chonkie import RecursiveChunker
    from langchain_core.documents import Document
    from llama_index.core.schema import TextNode

    chunk = RecursiveChunker(tokenizer=_encoding(), chunk_size=CAP).chunk("One. Two. Three.")[0]
    right = chunk.token_count == COUNT(chunk.text)
    fields = {
        "chonkie": set(vars(chunk)),
        "LangChain": set(Document.model_fields),
        "LlamaIndex": set(TextNode.model_fields),
    }
    cuts = {c: any("bound" in f or "cut" in f for f in names) for c, names in fields.items()}
    return {
        "tokens of each chunk kept": {
            "chunkprep": "of the block as the model sees it",
            "chonkie": "of its text" if right else "wrong",
            "text-splitter": "no: chunks are texts",
            "LangChain": yes("token_count" in fields["LangChain"]),
            "LlamaIndex": yes("token_count" in fields["LlamaIndex"]),
        },
        "places inside a chunk where it may be cut, priced": {
            "chunkprep": "yes",
            "text-splitter": "no: chunks are texts",
            **{column: yes(found) for column, found in cuts.items()},
        },
    }
