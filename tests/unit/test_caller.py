"""What a caller calls its request: which traceparent is valid, and what the log keeps of it."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkprep_packer.caller import (
    NOBODY,
    Caller,
    caller_in,
    is_trace_id,
    needle,
    valid_traceparent,
)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (VALID, VALID),
        (f" {VALID}\t", VALID),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"cc-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-is-like", f"cc-{TRACE}-{SPAN}-01"),
        (f"00-{'0' * 31}1-{'0' * 15}1-ff", f"00-{'0' * 31}1-{'0' * 15}1-ff"),
    ],
)
def test_a_valid_traceparent_is_kept(text: str, kept: str) -> None:
    assert valid_traceparent([text]) == kept
    trace_id = Caller(None, kept).trace_id
    assert trace_id == kept[3:35]
    assert is_trace_id(trace_id)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01-",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"cc-{TRACE}-{SPAN}-012",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        VALID.upper(),
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}a-{SPAN}-01",
        f"00-{TRACE}-{SPAN[:-1]}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-0x",
        f"0-{TRACE}-{SPAN}-01",
        f"00_{TRACE}_{SPAN}_01",
        f"00-{TRACE[:-1]}\u0661-{SPAN}-01",
    ],
)
def test_an_invalid_traceparent_is_none(text: str) -> None:
    assert valid_traceparent([text]) is None


def test_two_headers_or_none_are_none() -> None:
    assert valid_traceparent([]) is None
    assert valid_traceparent([VALID, VALID]) is None


@given(st.one_of(st.text(), st.text("0123456789abcdef-", min_size=50, max_size=60)))
def test_what_is_kept_is_valid_and_stays_so(text: str) -> None:
    kept = valid_traceparent([text])
    assert kept is None or (len(kept) == 55 and valid_traceparent([kept]) == kept)


@given(caller_id=st.text(max_size=40), trace=st.booleans())
def test_a_caller_comes_back_and_its_needle_is_found(caller_id: str, trace: bool) -> None:
    caller = Caller(caller_id, VALID if trace else None)
    logged = orjson.dumps({"caller": caller.known(), "budget": 1}).decode()
    assert caller_in(logged) == caller
    assert needle(trace_id=None, caller_id=caller_id) in logged
    assert (needle(trace_id=TRACE, caller_id=None) in logged) is trace


def test_nobody_is_known_of_a_pack_without_a_caller() -> None:
    assert caller_in('{"budget": 1}') == NOBODY
    assert NOBODY.known() == {}
    assert NOBODY.facts() == {"caller_id": None, "traceparent": None, "trace_id": None}
