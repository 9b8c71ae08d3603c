"""From pydantic's validation error to one line that names the field and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from chunkprep_ingest.errors import RequestError

_LONGEST = 60  # characters of a wrong value that a message repeats


def complaint(error: ValidationError, fields: Iterable[str]) -> RequestError:
    """The first thing wrong, as a RequestError."""
    first = error.errors(include_url=False)[0]
    path = _path(first["loc"])
    field = str(first["loc"][0]) if first["loc"] else None
    return RequestError(f"{path}: {_reason(first, fields)}", field)


def _path(location: tuple[int | str, ...]) -> str:
    """`candidates[3].score` for ("candidates", 3, "score")."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.isidentifier():
            path += f".{part}" if path else part
        elif not path:
            path = repr(part)
    return path or "request"


def _reason(first: Mapping[str, Any], fields: Iterable[str]) -> str:
    context, value = first.get("ctx", {}), _shown(first["input"])
    match first["type"]:
        case "missing":
            return "is missing; give it a value"
        case "extra_forbidden":
            name = str(first["loc"][-1])
            near = get_close_matches(name, fields, 1)
            return f"unknown option; did you mean {near[0]}?" if near else "unknown option"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {value}"
        case "less_than_equal":
            return f"must be at most {context['le']}, not {value}"
        case "literal_error":
            return f"must be one of {context['expected']}, not {value}"
        case "finite_number":
            return f"must be a finite number, not {value}"
        case "json_invalid":
            return f"not a JSON object: {context['error']}"
        case "value_error":
            return str(context["error"])
        case _:
            message = str(first["msg"])
            return f"{message[:1].lower()}{message[1:]}, not {value}"


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
