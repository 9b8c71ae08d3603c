"""The same text twice: exactly or nearly, and never because the documents are one."""

from __future__ import annotations

import struct

import pytest
from tests.support.packing import sized_row

from chunkprep_ingest.model import ChunkRow
from chunkprep_packer.duplicates import drop_duplicates


def signed(name: str, different: tuple[int, ...] = (), document: str | None = None) -> ChunkRow:
    """A row whose signature differs from the common one in these lanes."""
    lanes = [1_000 + lane if lane in different else lane for lane in range(32)]
    row = sized_row(name, 1, signature=struct.pack("<32I", *lanes))
    return row if document is None else row._replace(document=document)


@pytest.mark.parametrize(
    ("lanes", "reason"),
    [
        ((), "near_duplicate"),
        ((0, 15, 31), "near_duplicate"),
        ((8, 16, 24), "near_duplicate"),
        ((0, 8, 16, 24), None),
        ((1, 2, 3, 4), None),
    ],
)
def test_29_of_32_equal_minima_are_near(lanes: tuple[int, ...], reason: str | None) -> None:
    rows = [signed("a"), signed("b", lanes)]
    assert drop_duplicates(rows, near=True) == [None, reason]
    assert drop_duplicates(rows, near=False) == [None, None]
    assert drop_duplicates(rows[1:], near=True, pinned=rows[:1]) == [reason]


def test_chunks_of_one_document_are_duplicates_only_where_they_are_the_same() -> None:
    a, b = signed("a", document="d.md"), signed("b", (1,), document="d.md")
    assert drop_duplicates([a, b], near=True) == [None, None]
    assert drop_duplicates([a, b._replace(content_hash="a")], near=True) == [None, "duplicate"]


def test_a_duplicate_hides_nothing_itself() -> None:
    a, b, c = signed("a"), signed("b", (0, 1, 2)), signed("c", (0, 1, 2, 3))
    assert drop_duplicates([a, b, c], near=True) == [None, "near_duplicate", None]


def test_short_texts_have_no_signature_and_are_near_nothing() -> None:
    rows = [sized_row("a", 1), sized_row("b", 1)]
    assert drop_duplicates(rows, near=True) == [None, None]


def test_unknown_hashes_repeat_nothing() -> None:
    rows = [sized_row("a", 1, content_hash=""), sized_row("b", 1, content_hash="")]
    assert drop_duplicates(rows, near=False, pinned=rows[:1]) == [None, None]
