"""Prepared versions made by hand: one chunk per paragraph, words as tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from chunkprep_ingest.ids import bytes_hash, digest, text_hash
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import (
    Boundary,
    Chunk,
    Element,
    Fingerprints,
    ParsedDocument,
    PreparedVersion,
)
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import TEMPLATES

Prepare = Callable[..., PreparedVersion]

TEMPLATE = TEMPLATES["markdown"]
POLICY = Policy(cap=64)
PROFILE = "profile-1"


class WordCounter:
    """Every word is a token."""

    encoding = "words"
    fingerprint = "words/1"

    def count(self, text: str) -> int:
        return len(text.split())

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def prepare_by_hand(
    document: str,
    text: str,
    *,
    policy: str = POLICY.fingerprint,
    profile: str = PROFILE,
    reader: str = "text/1",
    data: bytes | None = None,
    **metadata: Any,
) -> PreparedVersion:
    """A version of `text`, split at blank lines; lines that start with # are headings."""
    known = Metadata.model_validate(metadata)
    title = known.title or document
    elements, chunks = _split(text, title)
    rendered = f'{{"title": "{title}"}}'
    return PreparedVersion(
        document=document,
        uri=f"file:{document}",
        title=title,
        bytes_hash=bytes_hash(data if data is not None else (text + repr(metadata)).encode()),
        content_hash=digest(text, rendered),
        rendered=rendered,
        metadata_json=known.model_dump_json(),
        fingerprints=Fingerprints(reader, policy, profile),
        parsed=ParsedDocument(text, tuple(elements), reader),
        chunks=tuple(chunks),
    )


def _split(text: str, title: str) -> tuple[list[Element], list[Chunk]]:
    elements: list[Element] = []
    chunks: list[Chunk] = []
    path: tuple[str, ...] = ()
    count = WordCounter().count
    for match in re.finditer(r"\S(?:.|\n(?!\n))*", text):
        body = match.group().rstrip("\n")
        start, end = match.start(), match.start() + len(body)
        heading = re.match(r"# (.*)", body)
        if heading:
            path = (heading.group(1).split("\n")[0],)
        elements.append(Element("title" if heading else "paragraph", start, end))
        header = TEMPLATE.header(" > ".join((title, *path)))
        delimiter = count(TEMPLATE.delimiter)
        boundaries = [
            Boundary(m.end(), "sentence", count(header + TEMPLATE.cut(body, m.end())) + delimiter)
            for m in re.finditer(r"\.(?= )", body)
        ]
        block = count(header + body + TEMPLATE.delimiter)
        chunks.append(
            Chunk(
                ordinal=len(chunks), start=start, end=end, text=body, header=header,
                heading_path=path, kind="prose", truncatable=True, page=None,
                block_tokens=block, header_tokens=count(header), delimiter_tokens=delimiter,
                boundaries=tuple(b for b in boundaries if b.block_tokens < block),
                content_hash=text_hash(body),
            )
        )  # fmt: skip
    return elements, chunks


@pytest.fixture
def prepare() -> Prepare:
    """Makes a prepared version by hand."""
    return prepare_by_hand
