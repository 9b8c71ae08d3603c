"""Packing beside the bare driver's lookup and beside counting at request time.

    python benchmarks/bench_pack.py [--rows 10000 200000] [--rounds 300] [--json FILE]

All figures of a table are taken in one run, round by round, each round with candidates of its
own and its steps in random order: the bare driver's lookup of the rows, the packer's core
(lookup, decision, text), the whole `pack` with its pydantic result (without and with the log),
counting the same texts with tiktoken, and the pure decision and fill alone. Ratios are of medians.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from figures import Direction, Figure, exit_code, table, write
from pack_store import databases, fill_store, make_texts

from chunkprep_ingest.model import ChunkRow
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_packer.decide import decide
from chunkprep_packer.eligibility import judge_at
from chunkprep_packer.facts import Facts
from chunkprep_packer.fill import fill
from chunkprep_store import Store

BUDGET = 12_000
COUNTS = (10, 40, 200, 1_000)
WARM_UP = 5
COLUMNS = ", ".join(f"c.{name}" for name in ChunkRow._fields)
TABLED = ("bare", "core", "result", "logged", "counting")

GROUP = "Packing"
RUNS = 5
"""Runs of rounds whose ratios are the spread."""
RATIOS = {
    "core / bare": ("core", "bare"),
    "result / bare": ("result", "bare"),
    "logged / bare": ("logged", "bare"),
    "counting / result": ("counting", "result"),
}
BARS: dict[str, tuple[float, Direction]] = {
    "core / bare": (2, "at_most"),
    "result / bare": (3, "at_most"),
    "counting / result": (4, "at_least"),
}
NO_BAR = (None, None)

Fetch = Callable[[list[str]], list[Any]]
Step = Callable[[], object]
Opened = tuple[Fetch, tuple[Packer, Packer]]


@contextlib.contextmanager
def bare_driver(url: str) -> Iterator[Fetch]:
    """The lookup as one would write it with the driver alone."""
    if url.startswith("sqlite"):
        file = sqlite3.connect(sa.make_url(url).database or "", isolation_level=None)
        for pragma in ("mmap_size = 268435456", "cache_size = -32768"):
            file.execute(f"PRAGMA {pragma}").fetchall()
        by_id = f"SELECT {COLUMNS} FROM json_each(?) j CROSS JOIN chunks c ON c.chunk_id = j.value"
        yield lambda ids: file.execute(by_id, (json.dumps(ids),)).fetchall()
        file.close()
        return
    import psycopg

    any_id = f"SELECT {COLUMNS} FROM chunks c WHERE c.chunk_id = ANY(%s)"
    with psycopg.connect(url, autocommit=True) as server:
        yield lambda ids: server.execute(any_id, (ids,)).fetchall()


def steps_of(
    names: list[str], fetch: Fetch, quiet: Packer, logging: Packer, dice: random.Random
) -> dict[str, Step]:
    """What one round measures, over the candidates `names`."""
    count = tiktoken_counter("o200k_base").count
    request = PackRequest(budget=BUDGET, candidates=[Candidate(n, dice.random()) for n in names])
    rows = {row[0]: ChunkRow._make(row) for row in fetch(names)}
    for packer in (quiet, logging):  # every connection has met these pages once
        packer.store.lookup("default", names, at=1)
    facts = Facts(rows, judge_at(request, 1))
    texts = [row.header + row.text for row in rows.values()]
    positions, costs = range(len(names)), [rows[name].block_tokens for name in names]
    return {
        "bare": lambda: fetch(names),
        "core": lambda: quiet.pack_core(request),
        "result": lambda: quiet.pack(request),
        "logged": lambda: logging.pack(request),
        "counting": lambda: [count(text) for text in texts],
        "decide": lambda: decide(request, request.candidates, facts),
        "fill": lambda: fill(positions, costs, BUDGET, whole=BUDGET),
    }


def measure(
    number: int, ids: list[str], rounds: int, fetch: Fetch, packers: tuple[Packer, Packer]
) -> dict[str, Any]:
    """Figures for packs of `number` candidates, in milliseconds."""
    dice = random.Random(number)
    times: dict[str, list[float]] = {}
    for turn in range(rounds + WARM_UP):
        steps = steps_of(dice.sample(ids, number), fetch, *packers, dice)
        for name in dice.sample(list(steps), len(steps)):
            start = time.perf_counter()
            steps[name]()
            if turn >= WARM_UP:
                times.setdefault(name, []).append((time.perf_counter() - start) * 1_000)
    packers[1].flush()
    middles = {name: statistics.median(values) for name, values in times.items()}
    high = {name: sorted(values)[int(len(values) * 0.99)] for name, values in times.items()}
    return {
        "candidates": number,
        "rounds": rounds,
        "p50_ms": {name: round(value, 3) for name, value in middles.items()},
        "p99_ms": {name: round(value, 3) for name, value in high.items()},
        **{name: ratio(times, *of) for name, of in RATIOS.items()},
    }


def ratio(times: dict[str, list[float]], upper: str, lower: str) -> tuple[float, float, float]:
    """The ratio of medians over all rounds, and its least and greatest over runs of rounds."""
    over, under = times[upper], times[lower]
    run = -(-len(over) // RUNS)
    runs = [
        statistics.median(over[at : at + run]) / statistics.median(under[at : at + run])
        for at in range(0, len(over), run)
    ]
    return statistics.median(over) / statistics.median(under), min(runs), max(runs)


@contextlib.contextmanager
def opened(url: str) -> Iterator[Opened]:
    """The bare driver and the two packers on one store."""
    quiet, logging = Packer.open(url, log="off"), Packer.open(url)
    with quiet, logging, bare_driver(url) as fetch:
        yield fetch, (quiet, logging)


def run(name: str, url: str, rows: int, ids: list[str], rounds: int) -> dict[str, Any]:
    """All figures for one store."""
    with opened(url) as (fetch, packers):
        figures = [
            measure(number, ids, max(20, rounds * 40 // max(number, 40)), fetch, packers)
            for number in COUNTS
        ]
    return {"database": name, "rows": rows, "figures": figures}


def growth(
    name: str, stores: Sequence[tuple[str, int, list[str]]], rounds: int
) -> Iterator[Figure]:
    """The packer's core on the greatest store against the least, round by round in turn."""
    (small, few, small_ids), *_, (large, many, large_ids) = sorted(stores, key=lambda s: s[1])
    times: dict[str, list[float]] = {"small": [], "large": []}
    dice = random.Random(40)
    with opened(small) as (small_fetch, (small_packer, _)), opened(large) as (fetch, (packer, _)):
        for turn in range(rounds + WARM_UP):
            for side, read, reader, ids in (
                ("small", small_fetch, small_packer, small_ids),
                ("large", fetch, packer, large_ids),
            ):
                core = steps_of(dice.sample(ids, 40), read, reader, reader, dice)["core"]
                start = time.perf_counter()
                core()
                if turn >= WARM_UP:
                    times[side].append(time.perf_counter() - start)
    value, low, high = ratio(times, "large", "small")
    yield Figure(
        group=f"{GROUP}, {name}", name=f"core of 40 at {many:,} rows / at {few:,}", value=value,
        unit="x", bar=1.3, direction="at_most", low=low, high=high,
    )  # fmt: skip


def show(found: dict[str, Any]) -> None:
    """One run as a table for people."""
    print(f"\n{found['database']}, {found['rows']:,} rows, budget {BUDGET:,} (p50/p99 in ms)")
    heads = [*TABLED, "decide", "fill", *RATIOS]
    print(f"{'n':>5}" + "".join(f"{head:>18}" for head in heads))
    for f in found["figures"]:
        cells = [f"{f['p50_ms'][k]:.3f}/{f['p99_ms'][k]:.3f}" for k in TABLED]
        cells += [f"{f['p50_ms'][k]:.3f}" for k in ("decide", "fill")]
        cells += [f"{f[key][0]:.2f}" for key in RATIOS]
        print(f"{f['candidates']:>5}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def figures_of(one: dict[str, Any]) -> Iterator[Figure]:
    """The bars of DESIGN.md section 8 and issue 4 for one store, and the times behind them."""
    group, rows = f"{GROUP}, {one['database']}", f"{one['rows']:,} rows"
    for found in one["figures"]:
        where = f"{rows}, {found['candidates']:,} candidates"
        for key in RATIOS:
            value, low, high = found[key]
            bar, direction = BARS.get(key, (None, None)) if found["candidates"] == 40 else NO_BAR
            yield Figure(
                group=group, name=f"{where}: {key}", value=value, unit="x", bar=bar,
                direction=direction, low=low, high=high,
            )  # fmt: skip
        for step in ("bare", "core", "result"):
            yield Figure(
                group=group, name=f"{where}: {step}, median", value=found["p50_ms"][step], unit="ms"
            )
            yield Figure(
                group=group, name=f"{where}: {step}, p99", value=found["p99_ms"][step], unit="ms"
            )
    yield Figure(
        group=group, name=f"{rows}: fill of 1,000 alone",
        value=one["figures"][-1]["p50_ms"]["fill"], unit="ms", bar=1, direction="at_most",
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 where every bar is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    texts = make_texts(500, random.Random(7))
    found: list[Figure] = []
    with databases() as fresh:
        for name in options.databases:
            stores = []
            for rows in options.rows:
                url = fresh(name, rows)
                with Store.open(url, create=True) as store:
                    stores.append((url, rows, fill_store(store, rows, texts)))
                one = run(name, *stores[-1], options.rounds)
                show(one)
                found += figures_of(one)
                write(found, options.json, complete=False)
            if len(stores) > 1:
                found += growth(name, stores, options.rounds)
            write(found, options.json, complete=False)
    write(found, options.json)
    print("\n" + table(figure for figure in found if figure.met is not None))
    return exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
