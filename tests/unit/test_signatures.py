"""What a log of packs says, in the field's failure signatures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chunkprep_packer import signatures
from chunkprep_store import PackRecord


def record(outcomes: str = "p", **log: Any) -> PackRecord:
    """A pack; `outcomes` by rank: p(acked), t(runcated), n(o room), l (too large)."""
    kinds = {
        "p": ("packed", None), "t": ("truncated", None), "n": ("skipped", "no_room"),
        "l": ("skipped", "too_large"), "d": ("skipped", "duplicate"),
    }  # fmt: skip
    decisions = [
        {"rank": rank, "outcome": kinds[kind][0], "reason": kinds[kind][1]}
        for rank, kind in enumerate(outcomes, start=1)
    ]
    first = {"p": "packed", "t": "truncated", "n": "no_room", "l": "too_large", "d": "none"}
    figures = {
        "offered": len(outcomes), "packed": outcomes.count("p") + outcomes.count("t"),
        "skipped_for_size": outcomes.count("n") + outcomes.count("l"),
        "fill": 0.8, "truncation_fired": "t" in outcomes, "rank1": first[outcomes[0]], **log,
    }  # fmt: skip
    result = json.dumps({"log": figures, "blocks": [], "decisions": decisions})
    return PackRecord("r", 0, 0, "o200k_base", 1, 1, "{}", result)


def codes(records: list[PackRecord]) -> list[str]:
    return [signature.code for signature in signatures(records)]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([record("ppp")] * 10, []),
        ([record("ppnn", fill=0.97)] * 10, ["always_exhausted"]),
        ([record("ppp")] * 9 + [record("lpp")], ["rank1_too_long"]),
        ([record("pnn", fill=0.5)] * 10, ["chronically_empty"]),
        ([record("ppp", fill=0.1)] * 10, []),  # nothing was left out: there was no more to pack
        ([record("pnpnp")] * 10, ["high_skip_rate"]),
        ([record("pppnnnn")] * 10, []),  # the slot was full: no outliers
        ([record("pt")] * 3 + [record("pp")] * 7, ["truncation_routine"]),
        ([record("ppnn", fill=0.97)] * 4, []),  # too few packs to say anything
        ([record("d")] * 10, []),
        ([], []),
    ],
)
def test_signatures(records: list[PackRecord], expected: list[str]) -> None:
    assert codes(records) == expected


def test_each_names_its_numbers_and_what_to_do() -> None:
    found = signatures([record("tnpn", fill=0.95)] * 9 + [record("lnpn", fill=0.4)] * 6)
    assert {s.code for s in found} == {
        "rank1_too_long", "truncation_routine", "high_skip_rate", "chronically_empty",
    }  # fmt: skip
    for signature in found:
        assert signature.packs == 15
        assert 0 < signature.share <= 1
        assert signature.figures
        assert any(char.isdigit() for char in signature.message)
        assert signature.advice
    assert [s.share for s in found] == sorted((s.share for s in found), reverse=True)
