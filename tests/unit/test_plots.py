"""Plots: what pygal draws is kept, what a strict page refuses is not, and nothing is invented."""

from __future__ import annotations

import re
import sys
from typing import get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkprep_packer.pages.plots import (
    MOST_SERIES,
    OWN_TONES,
    Plot,
    bars,
    by_day,
    steps_to,
    tones,
)
from chunkprep_packer.pages.rendering import stylesheet
from chunkprep_packer.result import Reason


def parsed(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(plot.svg)


def heights(plot: Plot, tone: str) -> list[float]:
    """Of the columns of one colour, none of which is left out."""
    rects = parsed(plot).iter("rect")
    return [float(r.attrib["height"]) for r in rects if r.get("class") == f"part {tone}"]


@given(st.floats(1e-6, 1e12), st.sampled_from((0, 1)))
def test_steps_are_few_round_and_reach_the_largest_value(most: float, least: int) -> None:
    steps = steps_to(most, least)
    assert steps[0] == 0
    assert 2 <= len(steps) <= 6
    assert steps[-1] >= most * (1 - 1e-6)
    assert steps[1] >= least
    assert steps == sorted(set(steps))


def test_nothing_counted_still_has_an_axis() -> None:
    assert steps_to(0) == [0, 1]
    assert heights(bars("Sizes", {"0 to 10 %": 0}), "packed") == [0]


def test_columns_are_as_high_as_their_counts() -> None:
    low, high, none = heights(bars("Sizes", {"a": 5, "b": 10, "c": 0}), "packed")
    assert high == pytest.approx(2 * low)
    assert none == 0


def test_markup_in_a_name_is_text_and_nothing_can_run_or_load() -> None:
    evil = '"><script>alert(1)</script>'
    plot = bars(evil, {evil: 3, "b": 1})
    assert "<script" not in plot.svg
    root = parsed(plot)
    assert root.findtext("title") == evil
    assert evil in (root.findtext("desc") or "")
    assert {node.tag for node in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "g",
        "path",
        "rect",
        "text",
    }
    names = {name for node in root.iter() for name in node.attrib}
    assert not names & {"style", "id", "href"}
    assert not {name for name in names if name.startswith("on") or ":" in name}


def test_the_same_counts_draw_the_same_bytes() -> None:
    assert bars("Sizes", {"a": 5}).svg == bars("Sizes", {"a": 5}).svg


def test_days_without_a_pack_are_left_empty() -> None:
    days = [{"day": "2026-03-01", "fill": 0.5}, {"day": "2026-03-20", "fill": 1.0}]
    drawn = heights(by_day("Fill", days, "fill"), "packed")
    assert len(drawn) == 20
    assert sum(height > 0 for height in drawn) == 2


def test_one_day_does_not_fill_the_plot() -> None:
    drawn = heights(by_day("Fill", [{"day": "2026-03-01", "fill": 0.5}], "fill"), "packed")
    assert len(drawn) == 14


def test_days_on_which_nothing_was_counted_are_drawn() -> None:
    plot = by_day("Skips", [{"day": "2026-11-30", "skipped": {}}], "skipped")
    assert "<svg" in plot.svg
    assert plot.legend == ()


def test_rare_reasons_are_added_up_so_that_colours_stay_few() -> None:
    counts = {f"reason_{n}": 100 - n for n in range(12)}
    plot = by_day("Skips", [{"day": "2026-03-01", "skipped": counts}], "skipped")
    assert len(plot.legend) == MOST_SERIES + 1
    assert plot.legend[0] == ("tone-0", "reason_0")
    assert plot.legend[-1] == ("none", "other")


def test_importing_the_library_leaves_no_hook_behind() -> None:
    bars("Sizes", {"a": 5})
    assert not [finder for finder in sys.meta_path if type(finder).__module__ == "pygal"]


def colours(scheme: int) -> dict[str, str]:
    """The colour of each class of a plot's parts, in the light (0) or the dark scheme (1)."""
    style = stylesheet()
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    values = dict(re.findall(r"(--[\w-]+): (#\w+);", block))
    rules = re.findall(r"([^{}]+)\{ fill: var\((--[\w-]+)\); \}", style)
    return {
        name: values[variable]
        for selectors, variable in rules
        for name in re.findall(r"\.part\.([\w-]+)", selectors)
    }


@pytest.mark.parametrize("scheme", [0, 1])
@given(st.data())
def test_no_two_kinds_in_a_plot_look_alike(scheme: int, data: st.DataObject) -> None:
    known = sorted({*get_args(Reason), *OWN_TONES} - {"none"})
    names = data.draw(st.permutations(known))[:MOST_SERIES]
    fills = colours(scheme)
    shown = [fills[tone] for tone in [*tones(names), "none"]]
    assert len(set(shown)) == len(shown)
    assert {*names} & OWN_TONES == {*tones(names)} & OWN_TONES
