"""Real text to measure with, from what is installed: nothing is downloaded.

Markdown: the READMEs of the installed packages. Prose: Python's own language reference and the
two evaluation corpora. Tables: price lists made here, since no package ships any.
"""

from __future__ import annotations

import importlib.metadata
import pydoc_data.topics
import random
from pathlib import Path

from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import ReadOptions, read

EVAL = Path(__file__).parent / "data" / "eval"


def readmes() -> list[tuple[str, bytes]]:
    """Name and bytes of each Markdown README among the installed packages, in order of name."""
    found: dict[str, bytes] = {}
    for distribution in importlib.metadata.distributions():
        metadata = distribution.metadata
        if "markdown" in (metadata.get("Description-Content-Type") or ""):
            body = metadata.get_payload() or metadata.get("Description") or ""
            if len(body) > 500:
                found[f"{metadata['Name'].lower()}.md"] = str(body).encode("utf-8", "replace")
    return sorted(found.items())


def prose() -> list[tuple[str, bytes]]:
    """Python's language reference by topic, and the evaluation corpora several times over."""
    topics = pydoc_data.topics.topics
    reference = "\n\n".join(topics[name] for name in sorted(topics)).encode()
    files = [("reference.txt", reference)]
    for path in sorted(EVAL.glob("*.md")):
        if path.name != "README.md":
            files += [(f"{path.stem}-{n}.txt", path.read_bytes()) for n in range(6)]
    return files


def tables(rows: int = 6000) -> list[tuple[str, bytes]]:
    """Price lists as Markdown tables, the same on every machine."""
    rng = random.Random(20260301)
    cities = "Lisbon Oslo Kyoto Quito Tallinn Hobart Nairobi Reykjavik Valletta Windhoek".split()
    head = "# Prices\n\n| Route | Class | Fare | Valid | Remark |\n|---|---|---:|---|---|\n"
    lines = [
        f"| {rng.choice(cities)} to {rng.choice(cities)} | {rng.choice('ABCY')} | "
        f"{rng.randint(40, 900)}.{rng.randint(0, 99):02d} EUR | 2026-{rng.randint(1, 12):02d} | "
        f"{rng.choice(['non-refundable', 'one bag', 'change for a fee', 'flexible'])} |"
        for _ in range(rows)
    ]
    return [("prices.md", (head + "\n".join(lines) + "\n").encode())]


def parsed(files: list[tuple[str, bytes]]) -> list[ParsedDocument]:
    """The files as their readers see them."""
    return [read(data, name, ReadOptions()) for name, data in files]
