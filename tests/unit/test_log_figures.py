"""What a log adds up to."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from chunkprep_packer import log_figures
from chunkprep_packer.log_figures import FILL_STEPS, fill_step
from chunkprep_store import PackRecord


def record(used: int, *, cut: str | None = None, at: int = 0) -> PackRecord:
    """A pack of a slot of 100 whose second candidate found no room."""
    truncated = None if cut is None else {"offset": 3, "kind": cut, "omitted_chars": 7}
    result = {
        "log": {
            "offered": 2, "packed": 1, "skipped_for_size": 1, "fill": used / 100,
            "truncation_fired": cut is not None, "rank1": "packed" if cut is None else "truncated",
        },
        "blocks": [{"truncated": truncated}],
        "decisions": [
            {"rank": 1, "outcome": "packed" if cut is None else "truncated", "reason": None},
            {"rank": 2, "outcome": "skipped", "reason": "no_room"},
        ],
    }  # fmt: skip
    warnings = ("floor_overrun: 3 tokens",) if used > 100 else ()
    return PackRecord("r", at, at, "words", 100, used, "{}", json.dumps(result), warnings)


def test_a_log_adds_up() -> None:
    found = log_figures(
        [record(50, at=2), record(90, cut="paragraph", at=1), record(103, cut="heading", at=3)]
    )
    assert (found.packs, found.first, found.last, found.offered) == (3, 1, 3, 6)
    assert (found.mean_slot, found.mean_used, found.mean_fill) == (100, 81, 0.81)
    assert [k for k, packs in enumerate(found.fill) if packs] == [4, 8, FILL_STEPS]
    assert found.outcomes == {"skipped": 3, "truncated": 2, "packed": 1}
    assert found.skipped == {"no_room": 3}
    assert found.rank1 == {"truncated": 2, "packed": 1}
    assert (found.truncated_packs, found.omitted_chars) == (2, 14)
    assert found.cuts == {"heading": 1, "paragraph": 1}
    assert found.warnings == {"floor_overrun": 1}
    assert found.signatures == ()


def test_an_empty_log_adds_up_to_nothing() -> None:
    found = log_figures([])
    assert (found.packs, found.first, found.mean_fill, sum(found.fill)) == (0, None, 0, 0)


def test_the_signatures_are_those_of_the_log() -> None:
    assert "truncation_routine" in {
        one.code for one in log_figures([record(60, cut="heading")] * 6).signatures
    }


@given(st.integers(0, 5000), st.integers(1, 5000))
def test_a_fill_lies_within_its_step(used: int, slot: int) -> None:
    step = fill_step(used, slot)
    if used > slot:
        assert step == FILL_STEPS
    else:
        assert 0 <= step < FILL_STEPS
        assert used == 0 or step * slot < used * FILL_STEPS <= (step + 1) * slot
