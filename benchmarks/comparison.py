"""The table of docs/why.md: its columns, its cells, its place on the page."""

from __future__ import annotations

from collections.abc import Mapping

COLUMNS = ("chunkprep", "chonkie", "text-splitter", "LangChain", "LlamaIndex")
BEGIN, END = "<!-- compared: make compare -->\n", "<!-- end -->\n"

CHONKIE = "https://docs.chonkie.ai/oss/chunkers/overview"
TEXT_SPLITTER = "https://docs.rs/text-splitter/latest/text_splitter/"
LANGCHAIN = "https://reference.langchain.com/python/langchain-core/indexing"
LANGCHAIN_EXPERIMENTAL = "https://pypi.org/project/langchain-experimental/"
LLAMA = "https://developers.llamaindex.ai/python/examples/ingestion/document_management_pipeline"

Row = dict[str, str]
"""A cell for each column."""


def linked(text: str, url: str) -> str:
    """A cell that a page backs."""
    return f"[{text}]({url})"


def nothing_of(text: str = "no") -> Row:
    """A row that no peer has, as the page that lists what each has shows."""
    pages = (CHONKIE, TEXT_SPLITTER, LANGCHAIN, LLAMA)
    return dict(zip(COLUMNS[1:], (linked(text, page) for page in pages), strict=True))


def yes(found: bool) -> str:
    """A cell."""
    return "yes" if found else "no"


def squeezed(text: str) -> str:
    """Without white space, which splitters may drop at the edges of chunks."""
    return "".join(text.split())


def as_markdown(rows: Mapping[str, Row]) -> str:
    """The table."""
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(cells[c] for c in COLUMNS) + " |"
              for row, cells in rows.items()]  # fmt: skip
    return "\n".join(lines) + "\n"


def on_page(page: str, table: str) -> str:
    """The page with the table in its place. Raises ValueError where it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/why.md has no place for the table")
    return before + begin + table + end + after
