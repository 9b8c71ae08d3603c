"""How fast splitting and pricing is, as ratios in one run: `make bench-split`.

From elements (reading is not in it) to priced chunks with every boundary, beside one bare
tiktoken pass over the same text and beside the public splitters, which record no boundaries.
Every figure is the median of interleaved rounds: bare, ours, bare, ours, ...
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.model import Chunk, ParsedDocument
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

import corpus  # isort: skip
from figures import Figure, middle, table, write  # isort: skip
from peers import peers  # isort: skip

ENCODING = "o200k_base"
CAP = 512
BAR_OF_BARE = 1.5
BAR_OF_PEER = 1.5
BAR_OF_BYTES = 1.1
BAR_OF_TEN = 11.0
SPEED = "Splitting and pricing"
PEERS = "Splitters on the same text"
GROWTH = "Splitting 10 times the text"


class RecordingCounter:
    """A counter that also counts the bytes it is given: work done, not time spent."""

    def __init__(self, counter: RunningCounter) -> None:
        self.counter = counter
        self.encoding = counter.encoding
        self.fingerprint = counter.fingerprint
        self.bytes = 0

    def count(self, text: str) -> int:
        self.bytes += len(text.encode())
        return self.counter.count(text)

    def running(self, text: str) -> Sequence[int]:
        self.bytes += len(text.encode())
        return self.counter.running(text)

    def counts(self, texts: Sequence[str]) -> list[int]:
        self.bytes += sum(len(text.encode()) for text in texts)
        return self.counter.counts(texts)


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call, garbage collected before and not during it."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


def against_bare(
    documents: list[ParsedDocument], profile: Profile, counter: RunningCounter, rounds: int
) -> tuple[float, list[float]]:
    """Median seconds of one bare pass, and our ratio to it in each of interleaved rounds."""
    texts = [document.text for document in documents]
    bare, ratios = [], []
    for _ in range(rounds):
        bare.append(seconds(lambda: counter.counts(texts)))
        ratios.append(seconds(lambda: all_chunks(documents, profile, counter)) / bare[-1])
    return statistics.median(bare), ratios


def all_chunks(
    documents: list[ParsedDocument], profile: Profile, counter: RunningCounter
) -> list[tuple[Chunk, ...]]:
    return [split(d, d.title or "Title", Policy(cap=CAP), profile, counter) for d in documents]


def corpora() -> dict[str, list[ParsedDocument]]:
    """The three kinds of real text, and all of it."""
    kinds = {
        "Markdown": corpus.parsed(corpus.readmes()),
        "prose": corpus.parsed(corpus.prose()),
        "tables": corpus.parsed(corpus.tables()),
    }
    return kinds | {"all": [document for some in kinds.values() for document in some]}


def speed(profile: Profile, counter: RunningCounter, rounds: int) -> Iterator[Figure]:
    """Split and price beside one bare pass: time as a ratio, and bytes counted."""
    for name, documents in corpora().items():
        size = sum(len(document.text.encode()) for document in documents)
        bare, ratios = against_bare(documents, profile, counter, rounds)
        recording = RecordingCounter(counter)
        chunks = [c for some in all_chunks(documents, profile, recording) for c in some]
        boundaries = sum(len(chunk.boundaries) for chunk in chunks)
        yield middle(
            SPEED, f"{name}: split + price / bare pass", ratios, "x",
            bar=BAR_OF_BARE, direction="at_most",
        )  # fmt: skip
        yield Figure(
            group=SPEED, name=f"{name}: bytes counted / bytes of text",
            value=recording.bytes / size, unit="x", bar=BAR_OF_BYTES, direction="at_most",
        )  # fmt: skip
        yield Figure(group=SPEED, name=f"{name}: bare pass", value=size / bare / 1e6, unit="MB/s")
        yield Figure(group=SPEED, name=f"{name}: text", value=size / 1e6, unit="MB")
        yield Figure(group=SPEED, name=f"{name}: chunks", value=len(chunks))
        yield Figure(group=SPEED, name=f"{name}: boundaries", value=boundaries)


def beside_peers(profile: Profile, counter: RunningCounter, rounds: int) -> Iterator[Figure]:
    """Everybody on the same text, round by round; a peer that breaks is named and left out."""
    documents = corpora()["all"]
    texts = [document.text for document in documents]
    size = sum(len(text.encode()) for text in texts) / 1e6
    ours: list[float] = []
    theirs: dict[str, list[float]] = {}
    splitters = peers(ENCODING, CAP, counter.count)
    for _ in range(rounds):
        ours.append(seconds(lambda: all_chunks(documents, profile, counter)))
        for name, splitter in list(splitters.items()):
            try:
                took = seconds(lambda cut=splitter: [cut(text) for text in texts])
                theirs.setdefault(name, []).append(took)
            except Exception as error:
                print(f"({name} broke and is left out: {type(error).__name__}: {error})")
                splitters.pop(name)
                theirs.pop(name, None)
    yield middle(PEERS, "chunkprep", [size / took for took in ours], "MB/s")
    for name, times in theirs.items():
        yield middle(PEERS, name, [size / took for took in times], "MB/s")
    if theirs:
        fastest = min(theirs, key=lambda name: statistics.median(theirs[name]))
        yield middle(
            PEERS, f"chunkprep / the fastest peer, {fastest}",
            [them / us for them, us in zip(theirs[fastest], ours, strict=True)], "x",
            bar=BAR_OF_PEER, direction="at_least",
        )  # fmt: skip


def growing() -> dict[str, Callable[[int], bytes]]:
    """Texts that make splitters quadratic, at a tenth and at the whole of their size."""
    row = "| Lisbon to Oslo | 120.00 EUR | one bag |\n"
    head = "| Route | Fare | Remark |\n|---|---|---|\n"
    prose = corpus.prose()[0][1]
    return {
        "prose": lambda tenths: prose[: len(prose) * tenths // 10],
        "table, 20,000 rows": lambda tenths: (head + row * (2000 * tenths)).encode(),
        "unbroken line, 2 MB": lambda tenths: b"QUJDREVGR0hJSktM" * (12_500 * tenths),
        "one-word lines, 200,000": lambda tenths: b"word\n" * (20_000 * tenths),
    }


def growth(profile: Profile, counter: RunningCounter) -> Iterator[Figure]:
    """Ten times the text takes about ten times as long."""
    for name, text in growing().items():
        suffix = "md" if name.startswith("table") else "txt"
        small, large = (read(text(n), f"growing.{suffix}", ReadOptions()) for n in (1, 10))
        times = [
            min(seconds(lambda d=d: all_chunks([d], profile, counter)) for _ in range(3))
            for d in (small, large)
        ]
        yield Figure(
            group=GROWTH, name=name, value=times[1] / times[0], unit="x",
            bar=BAR_OF_TEN, direction="at_most",
        )  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, TEMPLATES["markdown"])
    found = [
        *speed(profile, counter, options.rounds),
        *beside_peers(profile, counter, options.rounds),
        *growth(profile, counter),
    ]
    print(table(found))
    write(found, options.json)


if __name__ == "__main__":
    main()
