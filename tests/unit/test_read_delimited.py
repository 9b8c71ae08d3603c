from __future__ import annotations

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import read


def table(source: str, name: str = "a.csv") -> str:
    document = read(source.encode(), name)
    assert [e.kind for e in document.elements] == ["table"]
    assert document.coverage == 1.0
    return document.text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    source = f'name{delimiter}price\ntea, black{delimiter}"1.50"\n'.replace(
        "tea, black", '"tea, black"'
    )
    assert table(source) == "| name | price |\n| --- | --- |\n| tea, black | 1.50 |"


def test_cells_stay_as_written() -> None:
    assert table('a,b\n007,NA\n,\n"two\nlines","say ""x|y"""\n') == (
        '| a | b |\n| --- | --- |\n| 007 | NA |\n| two lines | say "x\\|y" |'
    )


def test_one_column_stays_one_column() -> None:
    assert table("just one\ncolumn here\n") == "| just one |\n| --- |\n| column here |"


def test_tabs_separate_tsv() -> None:
    assert table("a,b\tc\n1\t2\n", "a.tsv") == "| a,b | c |\n| --- | --- |\n| 1 | 2 |"


def test_a_cell_may_be_long() -> None:
    assert len(table(f'a,"{"x" * 1_000_000}"\n')) > 1_000_000


def test_a_table_without_cells_is_empty() -> None:
    with pytest.raises(ReadError, match="empty"):
        table(",,\n,,\n")
