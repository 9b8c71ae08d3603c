"""Python's own thresholds are back when the last run ends."""

from __future__ import annotations

import gc

from chunkprep_ingest.collecting import SELDOM, collected_seldom


def test_the_last_of_several_runs_sets_the_thresholds_back() -> None:
    before = gc.get_threshold()
    one, two = collected_seldom(), collected_seldom()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold() == SELDOM
    two.__exit__(None, None, None)
    assert gc.get_threshold() == before
