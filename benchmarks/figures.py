"""What a benchmark found, one value for all of them: a figure, its spread, and its bar if any.

Every benchmark prints its figures as one table and writes them with `--json FILE`, so that
`make bench` can put all of them on one page without knowing what each measures.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

Direction = Literal["at_most", "at_least"]
"""The side of the bar on which a figure has to be."""

HEADS = ("figure", "value", "spread", "bar", "")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure; `low` and `high` are the least and the greatest round behind it.

    `bar` and `direction` go together; without them the figure is information. Raises ValueError
    where one of a pair is missing.
    """

    group: str
    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    direction: Direction | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if (self.bar is None) != (self.direction is None):
            raise ValueError(f"{self.name}: a bar needs a direction, and a direction a bar")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: a spread needs both of its ends")

    @property
    def met(self) -> bool | None:
        """Whether the figure is on the right side of its bar; None where it has none."""
        if self.bar is None:
            return None
        return self.value <= self.bar if self.direction == "at_most" else self.value >= self.bar

    @property
    def verdict(self) -> str:
        """For people: met, MISSED, or nothing where there is no bar."""
        return {None: "", True: "met", False: "MISSED"}[self.met]

    def cells(self) -> tuple[str, str, str, str, str]:
        """Name, value, spread, bar and verdict as texts: the row of a table."""
        spread = ""
        if self.low is not None and self.high is not None:
            spread = f"{shown(self.low)} to {shown(self.high)}"
        bar = ""
        if self.bar is not None and self.direction is not None:
            bar = f"{self.direction.replace('_', ' ')} {self.bar:,.10g}"
        return self.name, f"{shown(self.value)} {self.unit}".rstrip(), spread, bar, self.verdict

    def to_json(self) -> dict[str, Any]:
        """The fields, and the verdict as `met`."""
        return {**asdict(self), "met": self.met}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Figure:
        """The figure that `to_json` wrote."""
        return cls(**{field.name: value[field.name] for field in fields(cls)})


def middle(
    group: str,
    name: str,
    rounds: Sequence[float],
    unit: str = "",
    *,
    bar: float | None = None,
    direction: Direction | None = None,
) -> Figure:
    """The median of rounds with their spread."""
    return Figure(
        group=group, name=name, value=statistics.median(rounds), unit=unit, bar=bar,
        direction=direction, low=min(rounds), high=max(rounds),
    )  # fmt: skip


def shown(value: float) -> str:
    """A number with three digits that mean something, and no more: 0.0123, 1.26, 45.3, 12,300."""
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


def grouped(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    """The figures by group, groups and figures in the order in which they came."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        found.setdefault(figure.group, []).append(figure)
    return found


def table(figures: Iterable[Figure]) -> str:
    """All figures as aligned lines under their groups, for a terminal."""
    groups = grouped(figures)
    rows = [figure.cells() for some in groups.values() for figure in some]
    heads = [(group, *HEADS[1:]) for group in groups]
    widths = [max((len(row[at]) for row in (*heads, *rows)), default=0) for at in range(len(HEADS))]
    lines = []
    for head, some in zip(heads, groups.values(), strict=True):
        lines += ["", _line(head, widths)] + [_line(figure.cells(), widths) for figure in some]
    return "\n".join(lines).lstrip("\n")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *others = (
        cell.ljust(width) if at in (0, 4) else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((name, *others)).rstrip()


def write(figures: Iterable[Figure], path: Path | None, *, complete: bool = True) -> None:
    """As JSON into `path`: `{"complete": true, "figures": [...]}`. Nothing where there is no path.

    A benchmark that writes as it goes says that it is not complete until it is.
    """
    if path is not None:
        found = {"complete": complete, "figures": [figure.to_json() for figure in figures]}
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> list[Figure]:
    """What `write` wrote; nothing where it wrote nothing."""
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    return [Figure.from_json(value) for value in found["figures"]]


def is_complete(path: Path) -> bool:
    """Whether the benchmark came to its end."""
    return path.exists() and bool(json.loads(path.read_text(encoding="utf-8"))["complete"])


def exit_code(figures: Iterable[Figure]) -> int:
    """1 where a bar is missed, else 0."""
    return int(any(figure.met is False for figure in figures))
