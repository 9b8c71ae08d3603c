"""Source paths that a command was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from chunkprep_ingest.errors import RequestError

NAMED_IN_SCHEMA: dict[str, JsonValue] = {"items": {"type": "string", "minLength": 1}}
"""What Prefect holds sources to when a deployment is made: an unset variable is an empty one."""


@dataclass(frozen=True, slots=True)
class NamedSources:
    """The sources that a command was given, and which of their files count."""

    sources: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    mirror: str | None = None


def refuse_blank(sources: tuple[str, ...]) -> tuple[str, ...]:
    """The sources as they are. Raises RequestError where one is blank: a variable that is not set,
    which a path would take for the working directory.
    """
    if all(source.strip() for source in sources):
        return sources
    raise RequestError(
        f"source {[bool(s.strip()) for s in sources].index(False) + 1} of {len(sources)} is empty; "
        f"set the variable that it comes from, or write . for the working directory",
        "sources",
    )


def refuse_missing(sources: Sequence[str]) -> None:
    """Raises RequestError for a blank source, and for the first path that does not exist."""
    from chunkprep_ingest.sources import missing

    refuse_blank(tuple(sources))
    gone = missing(sources)
    if gone:
        raise RequestError(f"there is no file or folder {gone[0]!r}; check the path", "sources")
