"""benchmarks/results.py: the page of all benchmarks."""

from benchmarks.figures import Figure
from benchmarks.results import BARS, Part, Results, page

SPLIT = Figure(
    group="Splitting and pricing", name="all: split + price / bare pass", value=2.1, unit="x",
    bar=1.5, direction="at_most", low=2.0, high=2.2,
)  # fmt: skip
READER = Figure(
    group="Ingest of HTML", name="reader alone", value=4.0, unit="MB/s", bar=1,
    direction="at_least",
)  # fmt: skip
RATE = Figure(group="Ingest of HTML", name="bare pass", value=20.0, unit="MB/s")


def results(*figures: Figure, trouble: str | None = None) -> Results:
    return Results(
        date="2026-01-31", commit="abc1234", machine={"cores": "2"}, versions={"Python": "3.11"},
        parts=[Part("bench_split", 61.4, trouble)], figures=figures, notes=["Shortened."],
    )  # fmt: skip


def test_each_bar_stands_with_its_figure_and_verdict() -> None:
    lines = page(results(SPLIT, READER, RATE)).splitlines()
    assert (
        "| split + price, from elements | Splitting and pricing: all: split + price / bare pass "
        "| 2.10 x | 2.00 to 2.20 | at most 1.5 | **MISSED** |"
    ) in lines
    assert (
        "| readers | Ingest of HTML: reader alone | 4.00 MB/s |  | at least 1 | met |"
    ) in lines  # fmt: skip
    assert any("1 of 2 bars met" in line for line in lines)


def test_a_demand_without_a_figure_is_not_measured() -> None:
    text = page(results(RATE))
    assert text.count("| not measured |") == len(BARS)


def test_the_page_says_what_broke_on_what_it_ran_and_all_that_it_found() -> None:
    text = page(results(RATE, trouble="interrupted"))
    assert "| bench_split | 61 | interrupted |" in text
    assert "Machine: cores 2." in text
    assert "commit abc1234" in text
    assert "Shortened." in text
    assert "| bare pass | 20.0 MB/s |  |  |  |" in text


def test_the_json_holds_every_figure_with_its_verdict() -> None:
    found = results(SPLIT, READER).to_json()
    assert [figure["met"] for figure in found["figures"]] == [False, True]
    assert found["parts"] == [{"name": "bench_split", "seconds": 61.4, "trouble": None}]
