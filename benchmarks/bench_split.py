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
from collections.abc import Callable, Sequence

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.model import Chunk, ParsedDocument
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

import corpus  # isort: skip
from peers import peers  # isort: skip

ENCODING = "o200k_base"
CAP = 512
BAR_OF_BARE = 1.5
BAR_OF_PEER = 1.5
BAR_OF_BYTES = 1.1
BAR_OF_TEN = 11.0


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
) -> tuple[float, float]:
    """Seconds of one bare pass, and our ratio to it: medians of interleaved rounds."""
    texts = [document.text for document in documents]
    bare, ratios = [], []
    for _ in range(rounds):
        bare.append(seconds(lambda: counter.counts(texts)))
        ratios.append(seconds(lambda: all_chunks(documents, profile, counter)) / bare[-1])
    return statistics.median(bare), statistics.median(ratios)


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


def print_speed(profile: Profile, counter: RunningCounter, rounds: int) -> None:
    print(
        f"{'text':<10}{'MB':>6}{'bare MB/s':>11}{'ratio':>8}{'bytes':>8}{'chunks':>8}"
        f"{'boundaries':>12}   bar: ratio {BAR_OF_BARE}, bytes {BAR_OF_BYTES}"
    )
    for name, documents in corpora().items():
        size = sum(len(document.text.encode()) for document in documents)
        bare, ratio = against_bare(documents, profile, counter, rounds)
        recording = RecordingCounter(counter)
        chunks = [c for some in all_chunks(documents, profile, recording) for c in some]
        boundaries = sum(len(chunk.boundaries) for chunk in chunks)
        print(
            f"{name:<10}{size / 1e6:>6.2f}{size / bare / 1e6:>11.1f}{ratio:>8.2f}"
            f"{recording.bytes / size:>8.3f}{len(chunks):>8}{boundaries:>12}"
        )


def print_peers(profile: Profile, counter: RunningCounter, rounds: int) -> None:
    documents = corpora()["all"]
    texts = [document.text for document in documents]
    size = sum(len(text.encode()) for text in texts)
    ours = statistics.median(
        seconds(lambda: all_chunks(documents, profile, counter)) for _ in range(rounds)
    )
    print(f"\n{'splitter':<26}{'MB/s':>8}{'we are':>9}   bar: {BAR_OF_PEER} x the fastest peer")
    print(f"{'chunkprep':<26}{size / ours / 1e6:>8.1f}")
    for name, splitter in peers(ENCODING, CAP, counter.count).items():
        theirs = seconds(lambda splitter=splitter: [splitter(text) for text in texts])
        print(f"{name:<26}{size / theirs / 1e6:>8.1f}{theirs / ours:>8.1f} x")


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


def print_growth(profile: Profile, counter: RunningCounter) -> None:
    print(f"\n{'10 times the text':<26}{'time':>8}   bar: {BAR_OF_TEN} x")
    for name, text in growing().items():
        suffix = "md" if name.startswith("table") else "txt"
        small, large = (read(text(n), f"growing.{suffix}", ReadOptions()) for n in (1, 10))
        times = [
            min(seconds(lambda d=d: all_chunks([d], profile, counter)) for _ in range(3))
            for d in (small, large)
        ]
        print(f"{name:<26}{times[1] / times[0]:>7.1f} x")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, TEMPLATES["markdown"])
    print_speed(profile, counter, rounds)
    print_peers(profile, counter, rounds)
    print_growth(profile, counter)


if __name__ == "__main__":
    main()
