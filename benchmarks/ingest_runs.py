"""Folders to ingest, and ingests of them that are timed, watched and counted."""

from __future__ import annotations

import gc
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psutil
import pyromark

from chunkprep_flows.direct import ingest_directly
from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport
from chunkprep_flows.ingest_settings import IngestSettings

import corpus  # isort: skip

Files = list[tuple[str, bytes]]
Ingest = Callable[[IngestSettings], IngestReport]


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
    """The files, in `documents` of a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="chunkprep-bench-") as name:
        for key, data in files:
            path = Path(name) / "documents" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(name)


@dataclass(frozen=True)
class Done:
    """After so many seconds and documents, MiB that each process held."""

    moment: float
    documents: int
    memory: dict[int, int] = field(default_factory=dict)


class Watch:
    """Progress that nobody looks at: notes when documents were done and, if asked, the memory."""

    def __init__(self, *, memory: bool = False) -> None:
        self.notes: list[Done] = []
        self.memory = memory

    def looked(self) -> None:
        """A file was listed."""

    def started(self, documents: int) -> None:
        """The number of documents to read is known."""

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """A batch is written."""
        before = self.notes[-1].documents if self.notes else 0
        held = memory_of_all() if self.memory else {}
        self.notes.append(Done(time.perf_counter(), before + len(outcomes), held))

    def pace(self, since: int, until: int) -> float:
        """Documents per second between the notes nearest to two numbers of documents."""
        begin = next(n for n in self.notes if n.documents >= since)
        end = next(n for n in self.notes if n.documents >= until)
        return (end.documents - begin.documents) / (end.moment - begin.moment)


def memory_of_all() -> dict[int, int]:
    """MiB that this process (as 0) and each of its children hold, by process id."""
    own = psutil.Process()
    held = {0: own.memory_info().rss >> 20}
    for child in own.children(recursive=True):
        try:
            held[child.pid] = child.memory_info().rss >> 20
        except psutil.NoSuchProcess:
            continue
    return held


class Took(NamedTuple):
    """Wall seconds, and processor seconds of this process and its children that have ended."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Run:
    """One ingest: what it took, its report, and what was seen meanwhile."""

    took: Took
    report: IngestReport
    watch: Watch


def ingest(
    folder: Path,
    *,
    fresh: bool,
    processes: int | None = None,
    memory: bool = False,
    how: Ingest | None = None,
    batch: tuple[int, int] = (500, 8_000_000),
) -> Run:
    """One run into the folder's store, in this thread or in so many process workers.

    `batch` is the most documents and bytes of one batch; `how` is another way than the direct one.
    """
    store = folder / "chunkprep.db"
    if fresh:
        for path in folder.glob("chunkprep.db*"):
            path.unlink()
    settings = IngestSettings(
        sources=(str(folder / "documents"),),
        store=f"sqlite:///{store}",
        workers=processes or 1,
        runner="process" if processes else "thread",
        batch_documents=batch[0],
        batch_bytes=batch[1],
    )
    watch = Watch(memory=memory)
    reports: list[IngestReport] = []
    spent = took(lambda: reports.append(how(settings) if how else ingest_directly(settings, watch)))
    if reports[0].stopped:  # a run ends softly on Ctrl-C; the benchmark ends with it
        raise KeyboardInterrupt
    if reports[0].failed:
        raise SystemExit(f"{reports[0].failed} documents failed")
    return Run(spent, reports[0], watch)


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def took(work: Callable[[], object]) -> Took:
    """What one call took."""
    gc.collect()
    start, used = time.perf_counter(), processor_seconds()
    work()
    return Took(time.perf_counter() - start, processor_seconds() - used)
