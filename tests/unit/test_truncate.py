"""Cutting: the deepest boundary that fits, of a permitted kind, of chunks that may be cut."""

from __future__ import annotations

import json

import pytest
from tests.support.packing import sized_row

from chunkprep_ingest.model import BOUNDARY_KINDS, Boundary, BoundaryKind
from chunkprep_packer.truncate import allowed_kinds, deepest

CUTS = [[10, "paragraph", 20], [30, "sentence", 40], [50, "heading", 60], [70, "paragraph", 59]]
ROW = sized_row("a", 100, boundaries=json.dumps(CUTS))


@pytest.mark.parametrize(
    ("room", "cut_at", "offset"),
    [
        (19, "sentence", None),
        (20, "sentence", 10),
        (39, "sentence", 10),
        (40, "sentence", 30),
        (40, "paragraph", 10),
        (59, "paragraph", 70),  # a deeper cut may be the cheaper one
        (60, "heading", 50),
        (59, "heading", None),
    ],
)
def test_the_deepest_that_fits(room: int, cut_at: BoundaryKind, offset: int | None) -> None:
    found = deepest(ROW, room, cut_at=cut_at, cut_any_kind=False)
    assert (found and found.offset) == offset


def test_a_number_in_the_header_is_part_of_the_price() -> None:
    assert deepest(ROW, 21, cut_at="paragraph", cut_any_kind=False, surcharge=2) is None
    found = deepest(ROW, 22, cut_at="paragraph", cut_any_kind=False, surcharge=2)
    assert found == Boundary(10, "paragraph", 22)


def test_tables_and_code_are_cut_only_when_told() -> None:
    table = ROW._replace(truncatable=False, kind="table")
    assert deepest(table, 99, cut_at="sentence", cut_any_kind=False) is None
    assert deepest(table, 99, cut_at="sentence", cut_any_kind=True) is not None


def test_a_kind_permits_every_stronger_one() -> None:
    assert allowed_kinds("sentence") == set(BOUNDARY_KINDS)
    assert allowed_kinds("code_block") == set(BOUNDARY_KINDS) - {"sentence"}
    assert allowed_kinds("heading") == {"heading"}
