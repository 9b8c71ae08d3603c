"""docs/why.md: what its table says of chunkprep is so. `make compare` runs the peers' columns."""

from importlib import import_module

from benchmarks.comparison import BEGIN, COLUMNS, END, as_markdown, on_page
from tests.e2e.conftest import ROOT

PAGE = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table() -> dict[str, list[str]]:
    """Our rows by their first cell."""
    _, _, rest = PAGE.partition(BEGIN)
    lines = rest.partition(END)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][1:] == list(COLUMNS)
    return {row[0]: row[1:] for row in rows[2:]}


def test_our_column_on_splitting_and_packing_is_what_runs() -> None:
    told = {row: cells[0] for row, cells in table().items()}
    # By name: the modules also import peers, which the type checker need not have.
    splitting, packing = (
        import_module(f"benchmarks.compared_{n}") for n in ("splitting", "packing")
    )
    found = splitting.ours_judged() | packing.ours_packed()
    assert {row: told[row] for row in found} == found


def test_every_cell_is_filled() -> None:
    assert all(len(cells) == len(COLUMNS) and all(cells) for cells in table().values())


def test_the_readme_tells_the_same_numbers() -> None:
    rows = table()
    cut = rows["edges inside a grapheme cluster"]
    assert f"| {cut[0]} | {cut[1]} and {cut[2]} | {cut[3]} and {cut[4]} |" in README
    assert f"LlamaIndex breaks it in {rows['chunks over the cap'][4]} chunks" in README


def test_a_table_is_put_in_the_place_of_the_one_before() -> None:
    again = as_markdown({"row": dict.fromkeys(COLUMNS, "yes")})
    page = on_page(f"before\n{BEGIN}old\n{END}after\n", again)
    assert page == f"before\n{BEGIN}{again}{END}after\n"
