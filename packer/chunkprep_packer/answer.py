"""A pack's answer: the result, and the JSON of what the log holds of it too, made once for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from chunkprep_packer.result import PackResult

Shared = Mapping[str, orjson.Fragment]
"""JSON of parts of a result, by name."""


class Answer(NamedTuple):
    """A result; `shared` is the JSON of those of its parts that the log took, where it took any."""

    result: PackResult
    shared: Shared

    def to_json(self) -> bytes:
        """The result as JSON."""
        return orjson.dumps({**vars(self.result), **self.shared})


def shared_json(**parts: object) -> Shared:
    """The parts as JSON."""
    return {name: orjson.Fragment(orjson.dumps(part)) for name, part in parts.items()}
