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
import platform
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
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

Fetch = Callable[[list[str]], list[Any]]
Step = Callable[[], object]


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
    middle = {name: statistics.median(values) for name, values in times.items()}
    high = {name: sorted(values)[int(len(values) * 0.99)] for name, values in times.items()}
    return {
        "candidates": number,
        "rounds": rounds,
        "p50_ms": {name: round(value, 3) for name, value in middle.items()},
        "p99_ms": {name: round(value, 3) for name, value in high.items()},
        "core_to_bare": round(middle["core"] / middle["bare"], 2),
        "result_to_bare": round(middle["result"] / middle["bare"], 2),
        "logged_to_bare": round(middle["logged"] / middle["bare"], 2),
        "counting_to_result": round(middle["counting"] / middle["result"], 2),
    }


def run(name: str, url: str, rows: int, rounds: int, texts: Sequence[Any]) -> dict[str, Any]:
    """All figures for one store."""
    with Store.open(url, create=True) as store:
        ids = fill_store(store, rows, texts)
    quiet, logging = Packer.open(url, log="off"), Packer.open(url)
    with quiet, logging, bare_driver(url) as fetch:
        figures = [
            measure(number, ids, max(20, rounds * 40 // max(number, 40)), fetch, (quiet, logging))
            for number in COUNTS
        ]
    return {"database": name, "rows": rows, "figures": figures}


def show(found: dict[str, Any]) -> None:
    """One run as a table for people."""
    print(f"\n{found['database']}, {found['rows']:,} rows, budget {BUDGET:,} (p50/p99 in ms)")
    heads = [*TABLED, "decide", "fill", "core/bare", "result/bare", "logged/bare", "count/result"]
    print(f"{'n':>5}" + "".join(f"{head:>17}" for head in heads))
    for f in found["figures"]:
        cells = [f"{f['p50_ms'][k]:.3f}/{f['p99_ms'][k]:.3f}" for k in TABLED]
        cells += [f"{f['p50_ms'][k]:.3f}" for k in ("decide", "fill")]
        keys = ("core_to_bare", "result_to_bare", "logged_to_bare", "counting_to_result")
        cells += [str(f[key]) for key in keys]
        print(f"{f['candidates']:>5}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


def bars(runs: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """The bars of DESIGN.md section 8 and issue 4, with their figures."""
    found = []
    for one in runs:
        where, f = f"{one['database']}, {one['rows']:,} rows", _at(one, 40)
        fill_ms = _at(one, 1_000)["p50_ms"]["fill"]
        found += [
            (f"{where}: core/bare {f['core_to_bare']} at most 2", f["core_to_bare"] <= 2),
            (f"{where}: result/bare {f['result_to_bare']} at most 3", f["result_to_bare"] <= 3),
            (
                f"{where}: counting/result {f['counting_to_result']} at least 4",
                f["counting_to_result"] >= 4,
            ),
            (f"{where}: fill of 1,000 {fill_ms} ms under 1", fill_ms < 1),
        ]
    for database in dict.fromkeys(one["database"] for one in runs):
        mine = sorted((r for r in runs if r["database"] == database), key=lambda r: int(r["rows"]))
        if len(mine) > 1:
            small, large = (_at(one, 40)["p50_ms"]["core"] for one in (mine[0], mine[-1]))
            ratio = round(large / small, 2)
            sizes = f"{mine[-1]['rows']:,} rows against {mine[0]['rows']:,}"
            found.append((f"{database}: core at {sizes} {ratio} at most 1.3", ratio <= 1.3))
    return found


def _at(one: dict[str, Any], number: int) -> dict[str, Any]:
    return next(f for f in one["figures"] if f["candidates"] == number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 where every bar is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    texts = make_texts(500, random.Random(7))
    runs = []
    with databases() as fresh:
        for name in options.databases:
            for rows in options.rows:
                runs.append(run(name, fresh(name, rows), rows, options.rounds, texts))
                show(runs[-1])
    met = bars(runs)
    print()
    for text, is_met in met:
        print(f"{'met   ' if is_met else 'missed'} {text}")
    if options.json:
        machine = {"machine": platform.platform(), "python": platform.python_version()}
        report = {**machine, "runs": runs, "bars": [{"bar": t, "met": m} for t, m in met]}
        options.json.write_text(json.dumps(report, indent=1))
    return 0 if all(is_met for _, is_met in met) else 1


if __name__ == "__main__":
    sys.exit(main())
