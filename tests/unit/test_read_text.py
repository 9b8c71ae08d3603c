from __future__ import annotations

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import ReadOptions, is_supported, read


def paragraphs(source: str) -> list[str]:
    document = read(source.encode(), "a.txt", ReadOptions())
    return [document.text[e.start : e.end] for e in document.elements]


def test_blank_lines_separate_paragraphs_and_all_else_stays() -> None:
    source = "\n\n  indented\nOverview\n \t\n\n\tB  x \n\n"
    assert paragraphs(source) == ["  indented\nOverview", "\tB  x"]


def test_line_ends_of_every_system() -> None:
    assert paragraphs("A.\r\n\r\nB.") == ["A.", "B."]
    assert paragraphs("A.\r\rB.") == ["A.", "B."]


def test_markdown_is_not_interpreted() -> None:
    assert paragraphs("# a\n- b\n<!-- c -->") == ["# a\n- b\n<!-- c -->"]


def test_white_space_only_is_empty() -> None:
    with pytest.raises(ReadError, match=r"empty: a\.txt"):
        paragraphs(" \n\t\n")


@pytest.mark.parametrize("name", ["x.xyz", "Makefile", ".DS_Store", "a.b/c", "x.pdf~"])
def test_other_types_are_unsupported(name: str) -> None:
    assert not is_supported(name)
    with pytest.raises(ReadError) as caught:
        read(b"x", name)
    assert caught.value.code == "unsupported_type"


def test_a_file_over_the_limit_is_too_large() -> None:
    with pytest.raises(ReadError) as caught:
        read(b"xx", "a.txt", ReadOptions(max_bytes=1))
    assert caught.value.code == "too_large"
