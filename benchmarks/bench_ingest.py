"""How fast a whole ingest is, as ratios in one run: `make bench-ingest`.

In process, without Prefect's start. The whole (read, split, price, write to a fresh SQLite file)
stands beside what nobody can do without: the reader by itself and one bare tiktoken pass. Every
ratio is the median of interleaved rounds. The text is real and made larger by numbered copies.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pyromark

from chunkprep_flows.direct import ingest_directly
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.reading import READERS
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.tokens import tiktoken_counter

import corpus  # isort: skip

ENCODING = "o200k_base"
SMALL = 10_000
Files = list[tuple[str, bytes]]


@dataclass(frozen=True)
class Bar:
    """A figure beside what it has to be; `least` where more is better."""

    name: str
    figure: float
    bar: float
    least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side."""
        return self.figure >= self.bar if self.least else self.figure <= self.bar

    def line(self) -> str:
        """For people."""
        side = "at least" if self.least else "at most"
        verdict = "met   " if self.met else "missed"
        return f"{verdict} {self.name}: {self.figure:.2f}, {side} {self.bar:g}"


class Quiet:
    """Progress that nobody looks at, with the moment at which each document was done."""

    def __init__(self) -> None:
        self.moments: list[float] = []

    def looked(self) -> None:
        """A file was listed."""

    def started(self, documents: int) -> None:
        """The number of documents to read is known."""

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """A batch is written."""
        self.moments += [time.perf_counter()] * len(outcomes)


def markdown(copies: int) -> Files:
    """READMEs and prose, `copies` times, each copy under a heading of its own."""
    texts = [*corpus.readmes(), *corpus.prose()]
    return [
        (f"{n}/{Path(name).stem}.md", b"# Copy %d\n\n" % n + data)
        for n in range(copies)
        for name, data in texts
    ]


def html(copies: int) -> Files:
    """The READMEs as pages."""
    page = "<!DOCTYPE html><title>Copy {}</title><body><main>{}</main></body>"
    pages = [(Path(name).stem, pyromark.html(data.decode())) for name, data in corpus.readmes()]
    return [
        (f"{n}/{stem}.html", page.format(n, body).encode())
        for n in range(copies)
        for stem, body in pages
    ]


def small(number: int) -> Files:
    """Short notes, all different, the same on every machine."""
    rng = random.Random(11)
    words = corpus.prose()[0][1].decode().split()
    return [
        (f"{n // 100}/{n}.md", f"# Note {n}\n\n{' '.join(rng.choices(words, k=120))}\n".encode())
        for n in range(number)
    ]


@contextmanager
def folder_of(files: Files) -> Iterator[Path]:
    """The files in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="chunkprep-bench-") as name:
        for key, data in files:
            path = Path(name) / "documents" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(name)


def ingest(folder: Path, *, fresh: bool, workers: int = 1) -> tuple[float, Quiet, IngestReport]:
    """Seconds of one run into the folder's store."""
    store = folder / "chunkprep.db"
    if fresh:
        for path in folder.glob("chunkprep.db*"):
            path.unlink()
    settings = IngestSettings(
        sources=(str(folder / "documents"),),
        store=f"sqlite:///{store}",
        workers=workers,
        runner="process" if workers > 1 else "thread",
        batch_documents=16,
        batch_bytes=1_000_000,
    )
    progress = Quiet()
    gc.collect()
    start = time.perf_counter()
    report = ingest_directly(settings, progress)
    return time.perf_counter() - start, progress, report


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def reader_start(name: str, data: bytes) -> float:
    """Seconds that a reader process takes to be ready, first file included."""

    def begin() -> None:
        with READERS.borrow() as reader:
            reader.read(data, name, ReadOptions())

    took = seconds(begin)
    READERS.close()
    return took


def whole(name: str, files: Files, bar: float, rate: float, rounds: int) -> list[Bar]:
    """Whole ingest against reader and bare pass, and the reader's own speed."""
    counter = tiktoken_counter(ENCODING)
    size = sum(len(data) for _, data in files) / 1e6
    parsed = [read(data, key, ReadOptions()) for key, data in files]  # and everything imported
    ratios, rates = [], []
    with folder_of(files) as folder:
        for _ in range(rounds):
            alone = seconds(lambda: [read(data, key, ReadOptions()) for key, data in files])
            bare = seconds(lambda: counter.counts([p.text for p in parsed]))
            idle = reader_start(*files[0])
            took, _, report = ingest(folder, fresh=True)
            if report.failed:
                raise SystemExit(f"{report.failed} {name} documents failed")
            ratios.append((took - idle) / (alone + bare))
            rates.append(size / alone)
        again = [ingest(folder, fresh=False) for _ in range(rounds)]
        if any(report.unchanged != len(files) for _, _, report in again):
            raise SystemExit("a second run of the same files was not unchanged")
        first = took
        second = statistics.median(run[0] for run in again)
    print(
        f"{name:<10}{size:>7.1f} MB {len(files):>6} files; reader {size / alone:.1f} MB/s, bare "
        f"pass {size / bare:.1f}, whole {size / took:.2f}; reader's start {idle:.2f} s left out",
        flush=True,
    )
    return [
        Bar(f"{name}: whole / (reader + bare pass)", statistics.median(ratios), bar),
        Bar(f"{name}: reader, MB/s", statistics.median(rates), rate, least=True),
        Bar(f"{name}: first run / unchanged run", first / second, 50, least=True),
    ]


def workers(name: str, files: Files, bar: float, rounds: int) -> Bar:
    """Two process workers against one, in documents per second once all of them have started."""

    def pace(number: int) -> float:
        with folder_of(files) as folder:
            _, progress, _ = ingest(folder, fresh=True, workers=number)
        moments = progress.moments
        begun = moments[0]  # the first batch is done: every process has started
        after = [moment for moment in moments if moment > begun]
        return len(after) / (after[-1] - begun)

    ratios = [pace(2) / pace(1) for _ in range(rounds)]
    return Bar(f"{name}: two process workers / one", statistics.median(ratios), bar, least=True)


def many(number: int) -> list[Bar]:
    """Many small documents: the last tenth against the first, and memory."""
    with folder_of(small(number)) as folder:
        ingest(folder, fresh=True)
        before = resident()
        took, progress, report = ingest(folder, fresh=True)
        after = resident()
    if report.new != number:
        raise SystemExit(f"{report.new} of {number} small documents arrived")
    tenth = number // 10
    moments = progress.moments
    first = moments[2 * tenth] - moments[tenth]
    last = moments[-1] - moments[-1 - tenth]
    print(f"small     {number} documents in {took:.1f} s; memory {before} to {after} MiB")
    return [
        Bar("small: time of the last tenth / the second tenth", last / first, 1.1),
        Bar("small: memory after a second run / before it", after / before, 1.1),
    ]


def resident() -> int:
    """MiB that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 where every bar is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=8, help="how often the text is repeated")
    parser.add_argument("--documents", type=int, default=SMALL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.documents < 1_000:
        parser.error("--documents: at least 1000, so that a tenth of them is several batches")
    texts, pages = markdown(options.copies), html(max(1, options.copies // 4))
    found = whole("Markdown", texts, 2.0, 15.0, options.rounds)
    found += whole("HTML", pages, 1.5, 1.0, options.rounds)
    found.append(workers("Markdown", texts, 1.6, options.rounds))
    found.append(workers("HTML", pages, 1.7, options.rounds))
    found += many(options.documents)
    print()
    for bar in found:
        print(bar.line())
    if options.json:
        rows = [{**asdict(bar), "met": bar.met} for bar in found]
        options.json.write_text(json.dumps({"bars": rows}, indent=1))
    return 0 if all(bar.met for bar in found) else 1


if __name__ == "__main__":
    sys.exit(main())
