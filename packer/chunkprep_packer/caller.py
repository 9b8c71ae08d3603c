"""What the caller calls its request: an id of its own, and its place in a trace.

Both stand in the log beside the pack's own id, so that an auditor goes from a pack to the trace
that it was made in, and from a trace to its packs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

MEMBER = "caller"
"""Of a logged request: an object with those of Caller's fields that are known."""

LONGEST_ID = 128
"""Characters of a caller's own id that are kept."""

_TRACEPARENT = re.compile(
    "(?!ff)[0-9a-f]{2}-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_TRACE_ID = re.compile("[0-9a-f]{32}")


class Caller(NamedTuple):
    """`caller_id` is the X-Request-ID that the caller sent, `traceparent` its valid one."""

    caller_id: str | None = None
    traceparent: str | None = None

    @property
    def trace_id(self) -> str | None:
        """Which trace the request is part of."""
        return None if self.traceparent is None else self.traceparent.split("-")[1]

    def known(self) -> dict[str, str]:
        """The fields that are known, by name."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def facts(self) -> dict[str, str | None]:
        """What an answer says of the caller: every field, and the trace id."""
        return {**self._asdict(), "trace_id": self.trace_id}


NOBODY = Caller()


def valid_traceparent(given: Sequence[str]) -> str | None:
    """The one valid `traceparent` among the headers of that name; None where there is none.

    As W3C Trace Context, level 1, section 3.2 has it: version ff, ids of zeros and capitals are not
    valid, nor are two such headers; of a version after 00 its first 55 characters count, where
    these are all or a dash follows.
    """
    if len(given) != 1:
        return None
    text = given[0].strip(" \t")
    found = _TRACEPARENT.match(text)
    if found is None:
        return None
    whole, rest = found.group(), text[found.end() :]
    return whole if not rest or (rest.startswith("-") and not whole.startswith("00")) else None


def is_trace_id(text: str) -> bool:
    """Whether this may be the id of a trace: 32 lower-case hexadecimal digits."""
    return _TRACE_ID.fullmatch(text) is not None


def caller_of(request: Mapping[str, object]) -> Caller:
    """The caller in a logged request, parsed."""
    known = request.get(MEMBER)
    if not isinstance(known, dict):
        return NOBODY
    return Caller(known.get("caller_id"), known.get("traceparent"))


def caller_in(request_json: str) -> Caller:
    """The caller in the JSON of a logged request."""
    return caller_of(orjson.loads(request_json))


def needle(*, trace_id: str | None, caller_id: str | None) -> str:
    """A text that the JSON of a logged request holds where the caller is this one."""
    if trace_id is not None:
        return f"-{trace_id}-"
    return f'"caller_id":{orjson.dumps(caller_id).decode()}'
