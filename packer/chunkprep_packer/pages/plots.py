"""Plots as static SVG, drawn by pygal: no script, nothing to load, and the page's own colours.

A plot says in its title and description what it shows; the page has its numbers in a table beside.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from math import floor, log10
from typing import Any, NamedTuple
from xml.etree import ElementTree

from markupsafe import Markup

WIDTH, HEIGHT = 360, 190
"""In units of the text's size, so that a plot as wide as a small phone can still be read."""

TEXT = 11
"""Height of letters in the same units; the stylesheet has it too."""

TICKS = 4
"""Lines across, about."""

MOST_SERIES = 7
"""Kinds told apart by colour; the rarer ones are added up as "other"."""

OWN_TONES = frozenset({"packed", "truncated", "no_room", "too_large", "none"})
"""What has its own colour wherever it is shown."""

ALIKE = {"packed": 0, "truncated": 1, "too_large": 4}
"""The tones that look like one of these: where it is shown, they are not."""

LEFT_OUT = frozenset({"desc", "title", "style", "script"})
"""What pygal puts at each mark for its script, and what the page's policy refuses."""

FEWEST_DAYS = 14
"""A plot by day has at least so many, so that the first day's column is not as wide as the plot."""


class Plot(NamedTuple):
    """A drawing, and the classes and names of its colours (none where there is one colour)."""

    svg: Markup
    legend: tuple[tuple[str, str], ...] = ()


class Series(NamedTuple):
    """One colour's values; None where there is nothing to show. `tone` is its class."""

    name: str
    tone: str
    values: tuple[float | None, ...]


def bars(title: str, counts: Mapping[str, int]) -> Plot:
    """A column for each count, in the order given, with its number above."""
    series = Series(title, "packed", tuple(counts.values()))
    labels = tuple(name.removesuffix(" %").replace(" to ", "–") for name in counts)
    chart = _columns([series], labels, numbers=True)
    text = ", ".join(f"{name}: {value:,}" for name, value in counts.items())
    return Plot(_drawn(chart, title, text, [series]))


def by_day(title: str, days: Sequence[Mapping[str, Any]], field: str) -> Plot:
    """A column for each day from the first to the last; stacked where `field` holds counts by
    name. Each of `days` has its date as `day`; days without one are left empty.
    """
    found = {date.fromisoformat(day["day"]): day[field] for day in days}
    last = max(found)
    dates = tuple(_every(min(*found, last - timedelta(days=FEWEST_DAYS - 1)), last))
    stacked = any(isinstance(value, Mapping) for value in found.values())
    series = _stacked(found, dates) if stacked else [_single(title, found, dates)]
    legend = tuple((one.tone, one.name) for one in series) if stacked else ()
    series = series or [Series(title, "packed", (0,) * len(dates))]  # nothing was counted
    chart = _columns(series, tuple(day.isoformat() for day in dates), numbers=False)
    text = f"By day from {dates[0]} to {dates[-1]}; the numbers are in the table by day"
    return Plot(_drawn(chart, title, text, series), legend)


def _every(first: date, last: date) -> Iterator[date]:
    for n in range((last - first).days + 1):
        yield first + timedelta(days=n)


def _single(title: str, found: Mapping[date, float], dates: Iterable[date]) -> Series:
    return Series(title, "packed", tuple(found.get(day) for day in dates))


def _stacked(found: Mapping[date, Mapping[str, int]], dates: Sequence[date]) -> list[Series]:
    total = sum((Counter(counts) for counts in found.values()), Counter[str]())
    names = [name for name, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))]
    shown, rest = names[:MOST_SERIES], names[MOST_SERIES:]
    empty: dict[str, int] = {}
    series = [
        Series(name, tone, tuple(found.get(day, empty).get(name, 0) for day in dates))
        for name, tone in zip(shown, tones(shown), strict=True)
    ]
    if rest:
        others = tuple(sum(found.get(day, empty).get(name, 0) for name in rest) for day in dates)
        series.append(Series("other", "none", others))
    return series


def tones(names: Sequence[str]) -> list[str]:
    """A class for each of at most MOST_SERIES names, no two of which look alike."""
    taken = {ALIKE[name] for name in names if name in ALIKE}
    free = (f"tone-{n}" for n in range(MOST_SERIES) if n not in taken)
    return [name if name in OWN_TONES else next(free) for name in names]


def _columns(series: Sequence[Series], labels: Sequence[str], *, numbers: bool) -> Any:
    columns = zip(*(one.values for one in series), strict=True)
    most = max((sum(value or 0 for value in column) for column in columns), default=0)
    whole = all(isinstance(value, int) for one in series for value in one.values if value)
    ticks = steps_to(most, 1 if whole else 0)
    library = _pygal()
    chart = library.StackedBar(
        width=WIDTH,
        height=HEIGHT,
        margin=4,
        margin_top=TEXT if numbers else 6,
        spacing=6,
        style=library.style.Style(
            label_font_size=TEXT, major_label_font_size=TEXT, value_font_size=TEXT
        ),
        show_legend=False,
        truncate_label=-1,
        print_values=numbers,
        print_values_position="top",
        print_zeroes=False,
        value_formatter=_short,
        y_labels=ticks,
        range=(0, ticks[-1]),
        js=(),
        css=(),
    )
    chart.x_labels = _spread(labels)
    for one in series:
        chart.add(one.name, one.values)
    return chart


@cache
def _pygal() -> Any:
    """The library, without the finder of map plugins that it hooks into every later import: it is
    of a form that Python 3.11 warns of and later ones pass over.
    """
    import pygal
    import pygal.style

    sys.meta_path[:] = [
        finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)
    ]
    return pygal


def steps_to(most: float, least: float = 0) -> list[float]:
    """Round numbers from 0 to `most` or a little more: steps of 1, 2 or 5 times a power of ten,
    and of `least` or more.
    """
    if most <= 0:
        return [0, 1]
    unit = 10.0 ** floor(log10(most / TICKS))
    step = max(least, next(unit * n for n in (1, 2, 5, 10) if unit * n * TICKS >= most))
    count = next(n for n in range(1, TICKS + 1) if step * n >= most * (1 - 1e-9))
    return [float(f"{step * n:.6g}") for n in range(count + 1)]


def _spread(labels: Sequence[str]) -> list[str]:
    """As many labels as there is room for, evenly; the others are empty."""
    room = max(1, int(WIDTH * 0.85 / (TEXT * 0.55 * max(map(len, labels), default=1) + TEXT)))
    every = -(-len(labels) // room)
    return ["" if n % every else label for n, label in enumerate(labels)]


def _short(value: float | None) -> str:
    if value is None:
        return ""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.3g} {letter}"
    return f"{value:,.6g}"


def _drawn(chart: Any, title: str, text: str, series: Sequence[Series]) -> Markup:
    """What pygal drew, without its styles and scripts, for a page that allows neither."""
    drawn = ElementTree.fromstring(chart.render(is_unicode=True))  # noqa: S314 (pygal's, not a document's)
    for node in drawn.iter():
        node.tag = node.tag.rpartition("}")[2]
    svg = ElementTree.Element(
        "svg", {"class": "plot", "viewBox": drawn.attrib["viewBox"], "role": "img"}
    )
    for tag, content in (("title", title), ("desc", text)):
        ElementTree.SubElement(svg, tag).text = content
    graph = next(node for node in drawn.iter("g") if "graph" in node.get("class", ""))
    for group in graph:
        names = group.get("class", "").split()
        if "plot" in names and "overlay" not in names and "tooltip-overlay" not in names:
            svg.append(_cleaned(group, series))
    return Markup(ElementTree.tostring(svg, encoding="unicode"))  # noqa: S704 (escaped by ElementTree)


def _cleaned(group: ElementTree.Element, series: Sequence[Series]) -> ElementTree.Element:
    for node in group.iter():
        for child in list(node):
            if child.tag in LEFT_OUT or (child.tag == "text" and not child.text):
                node.remove(child)
        for name in [n for n in node.attrib if n in ("style", "id") or n.startswith("on")]:
            del node.attrib[name]
    for number, one in enumerate(series):
        for node in group.iter("g"):
            if f"serie-{number}" in node.get("class", "").split():
                for bar in node.iter("rect"):
                    bar.set("class", f"part {one.tone}")
    return group
