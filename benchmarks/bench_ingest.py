"""How fast a whole ingest is, as ratios in one run: `make bench-ingest`.

In process, without Prefect's start. The whole (read, split, price, write to a fresh SQLite file)
stands beside what nobody can do without: the reader by itself and one bare tiktoken pass. Every
ratio is the median of interleaved rounds. The text is real and made larger by numbered copies.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.reading import READERS, reading_of
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

from counted_writes import counted_writes  # isort: skip
from figures import Figure, exit_code, middle, table, write  # isort: skip
from ingest_runs import (  # isort: skip
    Done, Files, Ingest, Took, folder_of, html, ingest, markdown, small, took,
)  # fmt: skip

ENCODING = "o200k_base"
SMALL = 10_000
STANDING = "Ingest again, nothing changed"
WORKERS = "Ingest by two process workers"
MANY = "Ingest of many small documents"
PREFECT = "Prefect's share"
BATCHES = (16, 1_000_000)
"""Small ones where workers are compared, so that both have work to the end."""


def in_reader_processes(files: Files) -> None:
    """All files read as an ingest reads them; the processes end."""
    reading = reading_of(IngestSettings(sources=("x",)))
    for name, data in files:
        with READERS.borrow(reading.limits) as reader:
            reader.read(data, name, reading.options)
    READERS.close()


def split_and_price(files: Files, parsed: Sequence[ParsedDocument]) -> None:
    """All that stands between reading and writing."""
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, TEMPLATES["markdown"])
    for (name, _), document in zip(files, parsed, strict=True):
        prepare_version(
            document, document=name, uri=name, data_hash=name, metadata=Metadata(), warnings=(),
            policy=Policy(), profile=profile, counter=counter,
        )  # fmt: skip


class Round(NamedTuple):
    """What each step took in one round of `whole`; `start` is a reader process with one file."""

    alone: Took
    bare: Took
    start: Took
    reading: Took
    splitting: Took
    ingest: Took

    def ratio(self, clock: Literal["wall", "cpu"]) -> float:
        """The whole without a reader's start, beside what nobody can do without."""
        took, start, alone, bare = (
            getattr(step, clock) for step in (self.ingest, self.start, self.alone, self.bare)
        )
        return float((took - start) / (alone + bare))

    def shares(self) -> dict[str, float]:
        """Where processor time goes, in per cent of the whole without a reader's start."""
        parts = {
            "reading": self.alone.cpu,
            "the reader's process and the way to it": self.reading.cpu - self.alone.cpu
            - self.start.cpu,
            "splitting and pricing": self.splitting.cpu,
        }  # fmt: skip
        whole = self.ingest.cpu - self.start.cpu
        parts["the rest: listing, hashing, writing"] = whole - sum(parts.values())
        return {name: 100 * part / whole for name, part in parts.items()}


def measured_rounds(files: Files, rounds: int) -> Iterator[Round]:
    """The steps of an ingest one by one, and the whole, in turn."""
    counter = tiktoken_counter(ENCODING)
    parsed = [read(data, key, ReadOptions()) for key, data in files]  # and everything imported
    texts = [document.text for document in parsed]
    with folder_of(files) as folder:
        for _ in range(rounds):
            yield Round(
                took(lambda: [read(data, key, ReadOptions()) for key, data in files]),
                took(lambda: counter.counts(texts)),
                took(lambda: in_reader_processes(files[:1])),
                took(lambda: in_reader_processes(files)),
                took(lambda: split_and_price(files, parsed)),
                ingest(folder, fresh=True).took,
            )


def whole(name: str, files: Files, bar: float, rate: float, rounds: int) -> Iterator[Figure]:
    """Whole ingest against reader and bare pass, the reader's own speed, and where time goes."""
    size = sum(len(data) for _, data in files) / 1e6
    found = list(measured_rounds(files, rounds))
    group = f"Ingest of {name}"
    yield middle(
        group, "whole / (reader alone + bare pass)", [r.ratio("wall") for r in found], "x",
        bar=bar, direction="at_most",
    )  # fmt: skip
    yield middle(group, "the same in processor time", [r.ratio("cpu") for r in found], "x")
    yield middle(
        group, "reader alone", [size / r.alone.wall for r in found], "MB/s", bar=rate,
        direction="at_least",
    )  # fmt: skip
    yield middle(group, "bare pass", [size / r.bare.wall for r in found], "MB/s")
    yield middle(group, "whole", [size / r.ingest.wall for r in found], "MB/s")
    yield Figure(group=group, name="files", value=len(files))
    yield Figure(group=group, name="text", value=size, unit="MB")
    yield middle(group, "left out: a reader process starts", [r.start.wall for r in found], "s")
    for part in found[0].shares():
        name = f"share of processor time: {part}"
        yield middle(group, name, [r.shares()[part] for r in found], "%")


def again(files: Files, rounds: int) -> Iterator[Figure]:
    """An unchanged run against the first one, and the rows that it writes."""
    ratios, seconds_again = [], []
    with folder_of(files) as folder:
        for _ in range(rounds):
            start = took(lambda: in_reader_processes(files[:1])).wall
            first = ingest(folder, fresh=True).took.wall - start
            standing = [ingest(folder, fresh=False) for _ in range(3)]
            if any(run.report.unchanged != len(files) for run in standing):
                raise SystemExit("a second run of the same files was not unchanged")
            seconds_again.append(statistics.median(run.took.wall for run in standing))
            ratios.append(first / seconds_again[-1])
        with counted_writes(folder / "chunkprep.db") as written:
            ingest(folder, fresh=False)
    yield middle(STANDING, "first run / unchanged run", ratios, "x", bar=50, direction="at_least")
    yield middle(STANDING, "unchanged run", seconds_again, "s")
    yield Figure(group=STANDING, name="files", value=len(files))
    others = sum(number for name, number in written.items() if name != "runs")
    yield Figure(
        group=STANDING, name="rows written besides the run's record", value=others, bar=0,
        direction="at_most",
    )  # fmt: skip
    yield Figure(
        group=STANDING,
        name="writes of the run's record (begun, ended)",
        value=written.get("runs", 0),
    )


def workers(name: str, files: Files, bar: float, rounds: int) -> Iterator[Figure]:
    """Two process workers against one, in documents per second once all of them have started."""

    def pace(number: int) -> float:
        with folder_of(files) as folder:
            watch = ingest(folder, fresh=True, processes=number, batch=BATCHES).watch
        begun = watch.notes[number - 1].documents  # every process has brought a batch
        return watch.pace(begun, len(files))

    ratios = [pace(2) / pace(1) for _ in range(rounds)]
    yield middle(WORKERS, f"{name}: two / one", ratios, "x", bar=bar, direction="at_least")


def many(number: int, rounds: int) -> Iterator[Figure]:
    """Many small documents: the pace at the end against that at the beginning, and memory."""
    tenth = number // 10
    ratios, rates = [], []
    with folder_of(small(number)) as folder:
        for _ in range(rounds):
            run = ingest(folder, fresh=True, memory=True)
            begun = run.watch.notes[0].documents
            ratios.append(run.watch.pace(number - tenth, number) / run.watch.pace(begun, tenth))
            rates.append(number / run.took.wall)
    watched = run.watch.notes
    yield middle(
        MANY, f"pace of the last {tenth:,} of {number:,} / of the first", ratios, "x", bar=0.9,
        direction="at_least",
    )  # fmt: skip
    yield middle(MANY, "documents", rates, "per second")
    early, late = watched[len(watched) // 5], watched[-1]
    for who, before, after in (
        ("the run's process", early.memory[0], late.memory[0]),
        ("a reader process, at most", *reader_memory(watched)),
    ):
        where = f"memory of {who}, at the end / at a fifth"
        yield Figure(
            group=MANY, name=where, value=after / before, unit="x", bar=1.1, direction="at_most"
        )
        yield Figure(group=MANY, name=f"memory of {who}, at the end", value=after, unit="MiB")


def reader_memory(notes: Sequence[Done]) -> tuple[int, int]:
    """MiB of the greatest reader process in the second fifth of the run, and in the last."""

    def greatest(some: Sequence[Done]) -> int:
        return max((m for n in some for pid, m in n.memory.items() if pid), default=1)

    fifth = len(notes) // 5
    return greatest(notes[fifth : 2 * fifth]), greatest(notes[-fifth:])


def prefect(number: int, rounds: int) -> Iterator[Figure]:
    """What the flow takes more than the direct run, its server's start left out."""
    from chunkprep_flows.prefect_session import prefect_session

    with folder_of(small(number)) as folder, prefect_session(say=lambda _: None):
        from chunkprep_flows.ingest_documents import ingest_documents

        with folder_of(small(100)) as warm:
            ingest(warm, fresh=True, how=ingest_documents)
        shares, extra, busy = [], [], []
        for turn in range(rounds):
            order: list[Ingest | None] = [None, ingest_documents]
            runs = {}
            for how in order if turn % 2 == 0 else order[::-1]:
                runs[how] = ingest(folder, fresh=True, how=how).took
            flow, direct = runs[ingest_documents], runs[None]
            extra.append(flow.wall - direct.wall)
            shares.append(100 * extra[-1] / flow.wall)
            busy.append(100 * (flow.cpu - direct.cpu) / flow.cpu)
    name = f"of a run of {number:,} documents"
    yield middle(PREFECT, name, shares, "%", bar=5, direction="at_most")
    yield middle(PREFECT, "the same in processor time, the server's own left out", busy, "%")
    yield middle(PREFECT, "seconds that it adds", extra, "s")


def parts(options: argparse.Namespace) -> dict[str, Callable[[], Iterator[Figure]]]:
    """What is measured, by the name that --parts takes."""
    texts, pages = markdown(options.copies), html(max(1, options.copies // 2))
    rounds = options.rounds
    return {
        "markdown": lambda: whole("Markdown", texts, 2.0, 15.0, rounds),
        "html": lambda: whole("HTML", pages, 1.5, 1.0, rounds),
        "again": lambda: again(texts, rounds),
        "workers-markdown": lambda: workers("Markdown", texts, 1.6, rounds),
        "workers-html": lambda: workers("HTML", pages, 1.7, rounds),
        "many": lambda: many(options.documents, max(1, rounds - 1)),
        "prefect": lambda: prefect(options.documents, max(1, rounds - 1)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 where every bar is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=6, help="how often the text is repeated")
    parser.add_argument("--documents", type=int, default=SMALL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", nargs="+", metavar="PART", help="only these")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.documents < 1_000:
        parser.error("--documents: at least 1000, so that a tenth of them is several batches")
    known = parts(options)
    if unknown := set(options.parts or ()) - set(known):
        parser.error(f"--parts: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    found: list[Figure] = []
    for name in options.parts or known:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        found += known[name]()
        write(found, options.json, complete=False)
    write(found, options.json)
    print(table(found))
    return exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
