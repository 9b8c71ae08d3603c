"""JSON texts of a row, read with distrust: a row that was damaged must not end the audit."""

from __future__ import annotations

from typing import Any

import orjson

from chunkprep_ingest.errors import StoreError

_SHOWN = 60  # characters of a value that a message shows


class UnreadableError(StoreError):
    """A stored value that is not what chunkprep writes there."""


def listed(column: str, text: str, *kinds: type) -> list[list[Any]]:
    """The lists in a JSON text, each with values of `kinds`. Raises UnreadableError."""
    found = parsed(column, text)
    if not isinstance(found, list) or not all(_fits(item, kinds) for item in found):
        raise UnreadableError(f"{column} {text[:_SHOWN]!r} do not hold what chunkprep writes there")
    return found


def _fits(item: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(item, list) and tuple(map(type, item)) == kinds


def boundary_list(text: str) -> list[list[Any]]:
    """Offset, kind and cost of each boundary. Raises UnreadableError."""
    return listed("boundaries", text, int, str, int)


def parsed(column: str, text: str) -> Any:
    """A JSON text's value. Raises UnreadableError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableError(f"{column} {text[:_SHOWN]!r} cannot be read: {error}") from error
