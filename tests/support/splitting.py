"""From a file's bytes to chunks by the real reader and splitter, held to the laws on the way."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NamedTuple

from tests.support.laws import broken_laws

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.model import Chunk, ParsedDocument
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter

ENCODINGS = OFFLINE_ENCODINGS
TITLE = "T"


class Cut(NamedTuple):
    """A document as read, and its chunks."""

    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]

    @property
    def texts(self) -> list[str]:
        return [chunk.text for chunk in self.chunks]

    @property
    def text(self) -> str:
        """All chunk texts, one below the other."""
        return "\n".join(self.texts)

    @property
    def kinds(self) -> list[str]:
        return [element.kind for element in self.parsed.elements]

    def elements(self, kind: str | None = None) -> list[str]:
        """The source of each element (of one kind)."""
        text = self.parsed.text
        return [text[e.start : e.end] for e in self.parsed.elements if kind in (None, e.kind)]


@functools.cache
def profile(encoding: str, template: str = "markdown") -> Profile:
    return make_profile(tiktoken_counter(encoding), TEMPLATES[template])


def parse(source: str | bytes, name: str = "a.md") -> ParsedDocument:
    """What the reader for `name` makes of it; lone surrogates reach it as the bytes they are."""
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    return read(data, name, ReadOptions())


def cut(
    source: str | bytes | ParsedDocument,
    encoding: str,
    cap: int,
    *,
    name: str = "a.md",
    title: str = TITLE,
    template: str = "markdown",
    policy: Policy | None = None,
) -> Cut:
    """The chunks of a file; fails where they break a law."""
    parsed = source if isinstance(source, ParsedDocument) else parse(source, name)
    counter = tiktoken_counter(encoding)
    policy = policy or Policy(cap=cap)
    chunks = split(parsed, title, policy, profile(encoding, template), counter)
    assert broken_laws(parsed.text, chunks, TEMPLATES[template], counter, policy.cap) == []
    return Cut(parsed, chunks)


def body_cap(encoding: str, body: int, title: str = TITLE, template: str = "markdown") -> int:
    """The cap of the whole block that leaves exactly `body` tokens to the text."""
    made = profile(encoding, template)
    header = tiktoken_counter(encoding).count(made.template.header(title))
    return header + body + made.delimiter_tokens


class RecordingCounter:
    """Counts like the counter inside it, and keeps what it was given."""

    def __init__(self, encoding: str) -> None:
        self._counter: RunningCounter = tiktoken_counter(encoding)
        self.encoding = encoding
        self.fingerprint = self._counter.fingerprint
        self.bytes = 0
        self.texts = 0

    def count(self, text: str) -> int:
        return self.counts([text])[0]

    def counts(self, texts: Sequence[str]) -> list[int]:
        self.bytes += sum(len(text.encode()) for text in texts)
        self.texts += len(texts)
        return self._counter.counts(texts)

    def running(self, text: str) -> Sequence[int]:
        self.bytes += len(text.encode())
        self.texts += 1
        return self._counter.running(text)


class Work(NamedTuple):
    """What splitting a document took: tokenizer bytes and texts, and functions called."""

    size: int
    bytes: int
    texts: int
    calls: int


def work_of(source: str, encoding: str, cap: int, name: str) -> Work:
    """Reads and splits a file, counting the work and measuring no time."""
    parsed = parse(source, name)
    counter = RecordingCounter(encoding)
    made = profile(encoding)
    tiktoken_counter(encoding).running("x")  # what the first call sets up is no work of this one
    calls = 0

    def tick(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        split(parsed, TITLE, Policy(cap=cap), made, counter)
    finally:
        sys.setprofile(before)
    return Work(len(parsed.text.encode()), counter.bytes, counter.texts, calls)
