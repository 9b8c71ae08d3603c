"""Markdown, read from its own source: fences, links, tables and markers stay as written.

pyromark (pulldown-cmark) says where blocks start; an element is the whole lines from one block's
start to the next. So every character lands in an element, whatever the parser makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.front_matter import split_front_matter
from chunkprep_ingest.headings import first_heading
from chunkprep_ingest.model import Element, ElementKind, ParsedDocument
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.spans import Block, keep, to_characters

if TYPE_CHECKING:
    from pyromark import Markdown

_VERSION = "1"
_KINDS: dict[str, ElementKind] = {
    "Heading": "title",
    "Paragraph": "paragraph",
    "HtmlBlock": "paragraph",
    "FootnoteDefinition": "paragraph",
    "Rule": "paragraph",
    "Item": "list_item",
    "CodeBlock": "code",
    "Table": "table",
}
_SHELLS = frozenset({"List", "BlockQuote", "FootnoteDefinition"})
"""Blocks that hold blocks. A heading inside one is no part of the document's structure."""
_PLAIN_TAGS = frozenset({"Paragraph", "HtmlBlock", "Item"})
_DETAILED_TAGS = frozenset({"Heading", "CodeBlock", "Table", *_SHELLS})
# Atomic, or a run of comments followed by text would be tried in every grouping.
_COMMENTS = re.compile(rb"(?:\s*<!--(?>.*?-->))++\s*", re.DOTALL)
_QUOTE_MARKS = re.compile(rb"[\s>]*")
_BARE_MARKER = re.compile(rb"[\s>]*(?:[-+*]|\d{1,9}[.)])?\s*")
_DATA_URI = re.compile(r"(data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,)[A-Za-z0-9+/=%]{256,}")


@cache
def fingerprint() -> str:
    """Moves with our reading rules and with the parser's version."""
    return f"markdown/{_VERSION}+pyromark-{version('pyromark')}"


def read_markdown(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The document in `data`. Raises ReadError (bad_encoding, bad_metadata, empty)."""
    text = decode(data, options.fallback_encoding).text
    metadata, start = split_front_matter(text)
    source, elided = elide_data_uris(text[start:])
    text, elements = parse(source)
    if not elements:
        raise ReadError("empty", f"{name} holds no text besides front matter and comments")
    return ParsedDocument(
        text=text,
        elements=elements,
        reader=fingerprint(),
        title=first_heading(text, elements),
        metadata=metadata,
        warnings=elision_warning(elided),
    )


def parse(source: str) -> tuple[str, tuple[Element, ...]]:
    """`source` without its comment blocks, and the elements over it."""
    data = source.encode()
    return keep(source, to_characters(_blocks(source, data), data))


def elide_data_uris(text: str) -> tuple[str, int]:
    """`text` with the payload of embedded files left out, and how many characters that were."""
    if ";base64," not in text:
        return text, 0
    short = _DATA_URI.sub(r"\1", text)
    return short, len(text) - len(short)


def elision_warning(characters: int) -> tuple[str, ...]:
    """A warning that names what was left out, if anything was."""
    if not characters:
        return ()
    return (f"data_uri: {characters} characters of embedded files were left out",)


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    return Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES)


def _blocks(source: str, data: bytes) -> list[Block]:
    blocks: list[Block] = []
    starts = _starts(source, data)
    first = starts[0].start if starts else len(data)
    if data[:first].strip():
        blocks.append(Block(0, first, "paragraph"))
    limits = [*(block.start for block in starts), len(data)]
    for (start, end, kind, depth), limit in zip(starts, limits[1:], strict=True):
        if end >= limit:
            blocks.append(Block(start, limit, kind, depth))
            continue
        end = _line_end(data, end)
        rest = data[end:limit]
        if _QUOTE_MARKS.fullmatch(rest):
            blocks.append(Block(start, limit, kind, depth))
        else:
            blocks.append(Block(start, end, kind, depth))
            blocks.append(Block(end, limit, "paragraph"))
    return blocks


def _line_end(data: bytes, at: int) -> int:
    """The end of the line that `at` lies in; `at` itself where a line starts there."""
    if at == 0 or data[at - 1] == 10:
        return at
    found = data.find(b"\n", at)
    return len(data) if found < 0 else found + 1


def _starts(source: str, data: bytes) -> list[Block]:
    """Every block that starts on a line of its own, from that line's start."""
    starts: list[Block] = []
    lists: list[int] = []  # ends of the lists that are open
    shell = last = -1  # end of the outermost list, quote or note; start of the last block's line
    for name, level, start, end in _block_events(source):
        depth = 0
        while lists and lists[-1] <= start:
            lists.pop()
        if name in _SHELLS:
            shell = max(shell, end)
            if name == "List":
                lists.append(end)
        kind = _KINDS.get(name)
        if kind is None:
            continue
        if name == "Item":
            depth = len(lists) - 1
        elif name == "Heading":
            kind, depth = ("title", level) if start >= shell else ("paragraph", 0)
        line = data.rfind(b"\n", 0, start) + 1
        if line == last:
            if kind == "code":  # a fence on the line of its list marker
                starts[-1] = Block(last, end, kind)
        elif not (kind == "paragraph" and _is_bare_item(starts, data, line)):
            if name == "HtmlBlock" and _COMMENTS.fullmatch(data, start, end):
                kind = None
            last = line
            starts.append(Block(line, end, kind, depth))
    return starts


def _block_events(source: str) -> Iterator[tuple[str, int, int, int]]:
    """Name, heading level, start and end (bytes) of each block, as it starts."""
    for event, span in _parser().events_with_range(source):
        if type(event) is dict:
            tag: Any = event.get("Start")
            if tag is None:
                continue
            if type(tag) is str:
                if tag in _PLAIN_TAGS:
                    yield tag, 0, span["start"], span["end"]
            else:
                name = next(iter(tag))
                if name in _DETAILED_TAGS:
                    level = int(tag[name]["level"][1]) if name == "Heading" else 0
                    yield name, level, span["start"], span["end"]
        elif event == "Rule":
            yield "Rule", 0, span["start"], span["end"]


def _is_bare_item(starts: list[Block], data: bytes, line: int) -> bool:
    """Whether the last block is a list marker alone, its text being on the line after it."""
    return (
        bool(starts)
        and starts[-1].kind == "list_item"
        and line < starts[-1].end
        and _BARE_MARKER.fullmatch(data, starts[-1].start, line) is not None
    )
