"""The page of all benchmarks, `RESULTS.md`, as a pure function of what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from benchmarks.figures import Figure, grouped


class Wanted(NamedTuple):
    """One demand of DESIGN.md section 8, and the figures that answer it, by expression."""

    what: str
    group: str
    name: str


BARS = (
    Wanted("split + price, from elements", r"Splitting and pricing", r".*/ bare pass"),
    Wanted("against the fastest peer", r"Splitters on the same text", r".*fastest peer.*"),
    Wanted("readers", r"Ingest of \w+", r"reader alone"),
    Wanted("whole ingest", r"Ingest of \w+", r"whole / .*"),
    Wanted("unchanged re-run", r"Ingest again.*", r".*"),
    Wanted("pack of 40", r"Packing, \w+", r".*40 candidates: .*"),
    Wanted("pack at more rows", r"Packing, \w+", r"core of 40 at .*"),
    Wanted("memory of an ingest worker", r"Ingest of many.*", r"memory of .*"),
    Wanted("two workers against one", r"Ingest by two.*", r".*"),
)


@dataclass(frozen=True)
class Part:
    """How one benchmark went; `trouble` says why figures of it may be missing."""

    name: str
    seconds: float
    trouble: str | None = None


@dataclass(frozen=True)
class Results:
    """All that the page tells. `machine` and `versions` are shown as they are."""

    date: str
    commit: str
    machine: Mapping[str, str]
    versions: Mapping[str, str]
    parts: Sequence[Part]
    figures: Sequence[Figure]
    notes: Sequence[str] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """RESULTS.json."""
        return {
            "date": self.date,
            "commit": self.commit,
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "notes": list(self.notes),
            "parts": [asdict(part) for part in self.parts],
            "figures": [figure.to_json() for figure in self.figures],
        }


def page(results: Results) -> str:
    """RESULTS.md."""
    barred = [figure for figure in results.figures if figure.met is not None]
    met = sum(figure.met is True for figure in barred)
    took = sum(part.seconds for part in results.parts) / 60
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` on {results.date}, commit {results.commit}, in {took:.1f} "
        f"minutes. {met} of {len(barred)} bars met. Figures are ratios taken in one run, each the "
        "median of interleaved rounds, with the least and the greatest beside it.",
        *(line for note in results.notes for line in ("", note)),
        "",
        *_facts("Machine", results.machine),
        "",
        *_facts("Versions", results.versions),
        "",
        "## The bars of DESIGN.md section 8",
        "",
        "| demand | figure | value | spread | bar | |",
        "|---|---|---:|---:|---:|---|",
        *_bars(results.figures),
        "",
        "## Everything measured",
    ]
    for group, figures in grouped(results.figures).items():
        lines += [
            "",
            f"### {group}",
            "",
            "| figure | value | spread | bar | |",
            "|---|---:|---:|---:|---|",
        ]
        lines += [_row(*figure.cells()) for figure in figures]
    lines += ["", "## How it went", "", "| benchmark | seconds | |", "|---|---:|---|"]
    lines += [_row(p.name, f"{p.seconds:.0f}", p.trouble or "complete") for p in results.parts]
    return "\n".join(lines) + "\n"


def _facts(head: str, facts: Mapping[str, str]) -> Iterator[str]:
    yield f"{head}: " + "; ".join(f"{name} {value}" for name, value in facts.items()) + "."


def _bars(figures: Iterable[Figure]) -> Iterator[str]:
    """One line for each figure that answers a demand; a demand without any was not measured."""
    barred = [figure for figure in figures if figure.met is not None]
    for wanted in BARS:
        answers = [
            figure
            for figure in barred
            if re.fullmatch(wanted.group, figure.group) and re.fullmatch(wanted.name, figure.name)
        ]
        for figure in answers:
            name, *cells = figure.cells()
            yield _row(wanted.what, f"{figure.group}: {name}", *cells)
        if not answers:
            yield _row(wanted.what, "", "not measured", "", "", "")


def _row(*cells: str) -> str:
    shown = (f"**{cell}**" if cell == "MISSED" else cell.replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(shown) + " |"
