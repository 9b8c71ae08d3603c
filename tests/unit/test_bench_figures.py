"""benchmarks/figures.py: figures beside their bars, as a table and as JSON."""

from pathlib import Path

import pytest
from benchmarks.figures import Figure, exit_code, is_complete, load, middle, shown, table, write


def ratio(value: float, **more: object) -> Figure:
    return Figure(group="Split", name="to bare", value=value, unit="x", **more)  # type: ignore[arg-type]


def test_a_figure_meets_its_bar_on_the_right_side_and_on_the_bar_itself() -> None:
    assert ratio(1.5, bar=1.5, direction="at_most").met is True
    assert ratio(1.6, bar=1.5, direction="at_most").met is False
    assert ratio(1.5, bar=1.5, direction="at_least").met is True
    assert ratio(1.4, bar=1.5, direction="at_least").met is False
    assert ratio(1.4).met is None


@pytest.mark.parametrize("half", [{"bar": 1.0}, {"direction": "at_most"}, {"low": 1.0}])
def test_half_a_pair_is_refused(half: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="to bare"):
        ratio(1.0, **half)


def test_rounds_become_their_median_with_its_spread() -> None:
    figure = middle("Split", "to bare", [3.0, 1.0, 2.0], "x", bar=2.0, direction="at_most")
    assert (figure.value, figure.low, figure.high, figure.met) == (2.0, 1.0, 3.0, True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (12_300, "12,300"), (123.4, "123"), (45.31, "45.3"), (1.257, "1.26"),
        (0.01234, "0.0123"),
    ],
)  # fmt: skip
def test_a_number_shows_the_digits_that_mean_something(value: float, text: str) -> None:
    assert shown(value) == text


def test_the_table_is_aligned_and_says_met_or_missed_under_each_group() -> None:
    found = [
        ratio(1.25, bar=1.5, direction="at_most", low=1.2, high=1.3),
        Figure(group="Pack", name="core to bare, SQLite", value=2.5, bar=2.0, direction="at_most"),
        Figure(group="Pack", name="rows", value=10_000),
    ]
    assert table(found).splitlines() == [
        "Split                  value        spread          bar",
        "to bare               1.25 x  1.20 to 1.30  at most 1.5  met",
        "",
        "Pack                   value        spread          bar",
        "core to bare, SQLite    2.50                  at most 2  MISSED",
        "rows                  10,000",
    ]


def test_json_gives_the_figures_back(tmp_path: Path) -> None:
    found = [ratio(1.25, bar=1.5, direction="at_most"), ratio(3.0, low=2.0, high=4.0)]
    write(found, tmp_path / "figures.json")
    assert load(tmp_path / "figures.json") == found
    assert '"met": true' in (tmp_path / "figures.json").read_text()


def test_only_a_missed_bar_makes_the_exit_code_1() -> None:
    assert exit_code([ratio(9.0), ratio(1.0, bar=1.5, direction="at_most")]) == 0
    assert exit_code([ratio(9.0, bar=1.5, direction="at_most")]) == 1


def test_a_benchmark_that_broke_leaves_what_it_had(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert (load(file), is_complete(file)) == ([], False)
    write([ratio(1.0)], file, complete=False)
    assert (load(file), is_complete(file)) == ([ratio(1.0)], False)
    write([ratio(1.0)], file)
    assert is_complete(file)
