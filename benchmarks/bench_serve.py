"""The HTTP service under load: `make bench-serve`.

    python benchmarks/bench_serve.py [--rows 200000] [--rounds 5] [--seconds 5] [--json FILE]

Packs of 40 candidates from wrk over loopback, 32 connections at a time, against `chunkprep serve`
with two workers. Each round takes three measures in random order: the service, the same server
answering a constant of the same size, and as many processes that pack the same requests without
HTTP, JSON in and JSON out, with the pack log written by the end. Ratios are of one round; their
medians and spread are told. Meanwhile answers are taken at random and their text is counted afresh.
Then documents are ingested as fast as they go beside the service.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from figures import Figure, exit_code, middle, table, write
from load import Load, post, require_wrk
from pack_store import Made, databases, fill_store, make_texts
from serving import (
    CHUNKPREP,
    constant,
    database_seconds,
    packing,
    processor_seconds,
    total,
)

from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer.service.keys import issue
from chunkprep_store import Store
from chunkprep_store.tables import collections

BUDGET = 12_000
CANDIDATES = 40
BODIES = 2_000
CONCURRENCY = 32
WORKERS = 2
SAMPLE_SECONDS = 0.1
"""Between two answers that are taken to be counted afresh."""
SETTLE_SECONDS = 2
"""After a load: its packs' log is written then, and counts as their processor time, not in the next
measure's.
"""
DOCUMENTS_PER_SECOND = 500
"""More than can be ingested while the load lasts."""


class Bench(NamedTuple):
    """What one database's measures share. `texts` is what documents are made of."""

    database: str
    store: str
    key: str
    bodies: Path
    seconds: int
    rounds: int
    texts: Sequence[Made]


class Measure(NamedTuple):
    """Answers a second, and the milliseconds of processor time that each took, of the service and
    of a database server: these say the same on a machine that is busy with other things.
    """

    rate: float
    work_ms: float
    load: Load | None = None
    database_ms: float = 0.0


class Round(NamedTuple):
    """One round."""

    served: Measure
    constant: Measure
    alone: Measure


@contextlib.contextmanager
def sampling(url: str, bench: Bench) -> Iterator[list[bytes]]:
    """Collects answers beside the load until the block ends."""
    bodies, answers = bench.bodies.read_bytes().splitlines(), list[bytes]()
    ended, dice = threading.Event(), random.Random(40)
    headers = {"Authorization": f"Bearer {bench.key}"}

    def take() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            request = urllib.request.Request(f"{url}/v1/pack", dice.choice(bodies), headers)
            with urllib.request.urlopen(request) as answer:
                answers.append(answer.read())

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield answers
    finally:
        ended.set()
        thread.join()


def wrong_counts(answers: Sequence[bytes]) -> int:
    """How many answers do not cost what they say, by the tokenizer itself."""
    count = tiktoken_counter("o200k_base").count
    packs = [orjson.loads(answer) for answer in answers]
    return sum(count(pack["text"]) != pack["used_tokens"] for pack in packs)


def alone(bench: Bench) -> Measure:
    """WORKERS processes that pack the same requests without HTTP."""
    command = [sys.executable, str(Path(__file__).with_name("pack_alone.py")), bench.store]
    command += [str(bench.bodies), str(bench.seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(WORKERS)]
    told = [process.communicate()[0].split() for process in running]
    rates, works = zip(*((float(rate), float(work)) for rate, work in told), strict=True)
    return Measure(sum(rates), sum(works) / len(works))


def loaded(bench: Bench, url: str, path: str) -> Measure:
    """One run of the load generator, and what it cost the processes that answered."""
    before = processor_seconds(url), database_seconds(bench.store)
    found = load(bench, url, path)
    time.sleep(SETTLE_SECONDS)
    work = processor_seconds(url) - before[0]
    database = database_seconds(bench.store) - before[1]
    each = 1_000 / found.requests
    return Measure(found.rate, work * each, found, database * each)


def load(bench: Bench, url: str, path: str) -> Load:
    """One run of the load generator."""
    return post(url + path, bench.bodies, bench.key, concurrency=CONCURRENCY, seconds=bench.seconds)


def rounds(bench: Bench, served: str, still: str) -> list[Round]:
    """All rounds, after one that warms up."""
    found, dice = [], random.Random(1)
    for _ in range(bench.rounds + 1):
        steps = {
            "served": lambda: loaded(bench, served, "/v1/pack"),
            "constant": lambda: loaded(bench, still, "/constant"),
            "alone": lambda: alone(bench),
        }
        names = dice.sample(list(steps), len(steps))
        found.append(Round(**{name: steps[name]() for name in names}))
    return found[1:]


def quiet_figures(bench: Bench, found: Sequence[Round]) -> list[Figure]:
    """Throughput as ratios of one round, and how long an answer takes."""
    group = group_of(bench)
    ratios = [one.served.rate / one.constant.rate for one in found]
    shares = [one.served.rate / one.alone.rate for one in found]
    loads = [one.served.load for one in found if one.served.load is not None]
    return [
        middle(group, "throughput / constant answer", ratios, bar=0.2, direction="at_least"),
        middle(group, "throughput / packer alone", shares, bar=0.8, direction="at_least"),
        middle(group, "packs", [one.served.rate for one in found], "/s"),
        middle(group, "constant answers", [one.constant.rate for one in found], "/s"),
        middle(group, "packs of the packer alone", [one.alone.rate for one in found], "/s"),
        middle(group, "processor, a pack", [one.served.work_ms for one in found], "ms"),
        middle(
            group,
            "processor of the database, a pack",
            [one.served.database_ms for one in found],
            "ms",
        ),
        middle(group, "processor, a constant", [one.constant.work_ms for one in found], "ms"),
        middle(group, "processor, a pack alone", [one.alone.work_ms for one in found], "ms"),
        middle(group, f"p50 at {CONCURRENCY}", [one.p50_ms for one in loads], "ms"),
        middle(group, f"p99 at {CONCURRENCY}", [one.p99_ms for one in loads], "ms"),
    ]


def group_of(bench: Bench) -> str:
    """The heading of a database's figures."""
    return f"serve, {bench.database}, {CANDIDATES} candidates, {WORKERS} workers"


def error_figures(
    bench: Bench, loads: Sequence[Load], answers: Sequence[bytes], url: str
) -> list[Figure]:
    """What must not happen at all."""
    group, none = group_of(bench), {"bar": 0.0, "direction": "at_most"}
    failed = sum(one.failed for one in loads)
    lost = total(url, "chunkprep_log_losses_total")
    return [
        Figure(group=group, name="errors", value=failed, **none),
        Figure(group=group, name="wrong counts", value=wrong_counts(answers), **none),
        Figure(group=group, name="answers counted afresh", value=len(answers)),
        Figure(group=group, name="packs missing from the log", value=lost, **none),
    ]


@contextlib.contextmanager
def ingesting(bench: Bench, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Ingests made documents into the same store as fast as it goes, until the block ends."""
    command = [*CHUNKPREP, "ingest", str(folder), "--direct", "--store", bench.store]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            yield process
            if process.poll() is not None:
                raise SystemExit(
                    "the ingestion ended before the load did; raise DOCUMENTS_PER_SECOND"
                )
        finally:
            process.terminate()


def make_documents(folder: Path, texts: Sequence[Made], name: int, number: int) -> None:
    """Files of some 4,000 tokens each, none like another."""
    dice = random.Random(name)
    folder.mkdir(parents=True)
    for n in range(number):
        parts = [f"# Part {at}\n\n{dice.choice(texts).text}" for at in range(10)]
        path = folder / f"r{name}-{n}.md"
        path.write_text(f"# Document {name}-{n}\n\n" + "\n\n".join(parts) + "\n")


def beside_ingestion(bench: Bench, url: str, folder: Path) -> tuple[list[Figure], list[Load]]:
    """Quiet and disturbed rounds in turn: p99 beside ingestion against p99 without."""
    quiet, busy, written = [], [], 0.0
    for at in range(bench.rounds):
        quiet.append(load(bench, url, "/v1/pack"))
        with ingesting(bench, folder / str(at)) as process:
            before = await_change(bench, process)
            begun = time.perf_counter()
            busy.append(load(bench, url, "/v1/pack"))
            written += (cursor(bench) - before) / (time.perf_counter() - begun)
    ratios = [b.p99_ms / q.p99_ms for q, b in zip(quiet, busy, strict=True)]
    group, name = group_of(bench), "p99 beside ingestion / quiet"
    return [
        middle(group, name, ratios, bar=2.0, direction="at_most"),
        middle(group, "p99 beside ingestion", [one.p99_ms for one in busy], "ms"),
        Figure(group=group, name="chunks ingested meanwhile", value=written / bench.rounds,
               unit="/s"),
    ], [*quiet, *busy]  # fmt: skip


def cursor(bench: Bench) -> int:
    """How many chunks were ever written by ingestion: the change feed's last cursor."""
    with Store.open(bench.store, create=False) as store, store.database.snapshot() as connection:
        return int(connection.execute(sa.select(collections.c.change_cursor)).scalar_one())


def await_change(bench: Bench, process: subprocess.Popen[bytes]) -> int:
    """The cursor once the ingestion that was just started has written something."""
    before = cursor(bench)
    while (now := cursor(bench)) == before:
        if process.poll() is not None:
            raise SystemExit("the ingestion ended without writing anything")
        time.sleep(0.2)
    return now


def run(bench: Bench, folder: Path) -> list[Figure]:
    """All figures of one database."""
    with packing(bench.store, WORKERS) as served:
        first = bench.bodies.read_bytes().splitlines()[0]
        headers = {"Authorization": f"Bearer {bench.key}"}
        with urllib.request.urlopen(
            urllib.request.Request(f"{served}/v1/pack", first, headers)
        ) as answer:
            size = len(answer.read())
        with constant(bench.store, WORKERS, size) as still, sampling(served, bench) as answers:
            found = rounds(bench, served, still)
        beside, loads = beside_ingestion(bench, served, folder)
        loads += [one.served.load for one in found if one.served.load is not None]
        errors = error_figures(bench, loads, answers, served)
    return [*quiet_figures(bench, found), *beside, *errors]


def make_bodies(path: Path, ids: Sequence[str]) -> None:
    """Requests, one a line, each of 40 random chunks."""
    dice = random.Random(3)
    with path.open("wb") as file:
        for _ in range(BODIES):
            chosen = dice.sample(ids, CANDIDATES)
            candidates = [{"chunk_id": name, "score": dice.random()} for name in chosen]
            file.write(orjson.dumps({"budget": BUDGET, "candidates": candidates}) + b"\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 where every bar is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    require_wrk()
    texts, figures = make_texts(500, random.Random(7)), list[Figure]()
    with databases() as fresh, tempfile.TemporaryDirectory() as name:
        folder, bodies = Path(name) / "documents", Path(name) / "bodies"
        for at in range(options.rounds):
            number = DOCUMENTS_PER_SECOND * options.seconds
            make_documents(folder / str(at), texts, at, number)
        for database in options.databases:
            url = fresh(database, options.rows)
            key, row = issue("bench", "read", None, None, now=0)
            with Store.open(url, create=True) as store:
                make_bodies(bodies, fill_store(store, options.rows, texts))
                store.add_api_key(row)
            bench = Bench(database, url, key, bodies, options.seconds, options.rounds, texts)
            found = run(bench, folder)
            print(table(found), end="\n\n", flush=True)
            figures += found
            write(figures, options.json, complete=False)
    write(figures, options.json)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
