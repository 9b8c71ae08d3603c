"""An oracle for laws 1, 2, 3 and 5 on the chunks of one document.

It renders every block and counts it whole, and puts the document together again from the chunk
texts. It shares no arithmetic with the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import regex

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.model import Chunk
from chunkprep_ingest.template import Template

_CLUSTER = regex.compile(r"\X")


def broken_laws(
    text: str,
    chunks: Sequence[Chunk],
    template: Template,
    counter: Counter,
    cap: int,
    margin: int = 0,
) -> list[str]:
    """Every way in which these chunks break a law, in words; empty where all hold.

    `margin` tokens are part of each price of an encoding whose counts do not add up.
    """
    edges = {0, *(m.end() for m in _CLUSTER.finditer(text))}
    found: list[str] = []
    at = 0
    for chunk in chunks:
        name = f"chunk {chunk.ordinal}"
        found += [f"{name}: {fault}" for fault in _prices(chunk, template, counter, cap, margin)]
        if text[at : chunk.start].strip():
            found.append(f"{name}: lost {text[at : chunk.start]!r} before it")
        own, there = own_text(chunk), text[chunk.start : chunk.end]
        if chunk.rendering == "records":
            own, there = words(own), words(there)
        if own != there:
            found.append(f"{name}: its text is not the document's")
        if not {chunk.start, chunk.end} <= edges:
            found.append(f"{name}: a grapheme cluster is cut at {chunk.start} or {chunk.end}")
        if not chunk.text.strip():
            found.append(f"{name}: blank")
        if chunk.text[-1].isspace() or chunk.text[0] == "\n":
            found.append(f"{name}: blank edges")
        at = chunk.end
    if text[at:].strip():
        found.append(f"lost {text[at:]!r} at the end")
    if [chunk.ordinal for chunk in chunks] != list(range(len(chunks))):
        found.append("ordinals are not 0, 1, 2, ...")
    return found


def words(text: str) -> str:
    """What a table says: its text without white space and without pipes between cells."""
    return "".join(re.sub(r"(?<!\\)\|", "", text).split())


def own_text(chunk: Chunk) -> str:
    """The chunk's text without additions, with substitutions undone."""
    chars = list(chunk.text)
    for offset, original in chunk.substitutions:
        chars[offset] = original
    for offset, length in reversed(chunk.additions):
        del chars[offset : offset + length]
    return "".join(chars)


def _prices(chunk: Chunk, template: Template, counter: Counter, cap: int, margin: int) -> list[str]:
    found = []
    block = chunk.header + chunk.text + template.delimiter
    cost = counter.count(block) + margin
    if cost != chunk.block_tokens:
        found.append(f"costs {cost}, priced {chunk.block_tokens}")
    if cost > cap:
        found.append(f"costs {cost}, over the cap of {cap}")
    if chunk.header_tokens != counter.count(chunk.header):
        found.append("header price is off")
    last = 0
    for offset, kind, price in chunk.boundaries:
        cut = chunk.text[:offset]
        spaced = "" if cut.endswith("\n") else " "
        whole = chunk.header + cut + spaced + template.marker + template.delimiter
        cost = counter.count(whole) + margin
        if cost != price:
            found.append(f"cut at {offset} ({kind}) costs {cost}, priced {price}")
        if price >= chunk.block_tokens or price > cap:
            found.append(f"cut at {offset} saves nothing")
        if not last < offset < len(chunk.text):
            found.append(f"cut at {offset} is out of order")
        last = offset
    return found
