"""Metadata at the top of a Markdown file: YAML between `---` lines, TOML between `+++` lines."""

from __future__ import annotations

import re
from datetime import date, time
from math import isfinite
from typing import Any, NamedTuple

from chunkprep_ingest.decode import clean
from chunkprep_ingest.errors import MetadataError

_YAML = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LARGEST = 2**63 - 1
_KEY = re.compile(r"(?:[ \t]*#.*\n)*[\w\"'][^:\n]*:(?:\s|$)")


class FrontMatter(NamedTuple):
    """The raw metadata, and the offset (characters) at which the body starts."""

    values: dict[str, object]
    body: int


def split_front_matter(text: str) -> FrontMatter:
    """The front matter of `text`, empty where there is none.

    A rule at the top of a document is not front matter: what stands between the lines must be a
    mapping. Raises MetadataError (bad_metadata) for a block that starts like one and is broken.
    """
    if text.startswith("---"):
        match, parse = _YAML.match(text), parse_yaml
    elif text.startswith("+++"):
        match, parse = _TOML.match(text), _parse_toml
    else:
        return FrontMatter({}, 0)
    if match is None:
        return FrontMatter({}, 0)
    block = match.group(1)
    if not block.strip():
        return FrontMatter({}, match.end())
    if not _KEY.match(block) and parse is parse_yaml:
        return FrontMatter({}, 0)
    values = parse(block, "front matter")
    return FrontMatter(values, match.end())


def parse_yaml(block: str, where: str) -> dict[str, object]:
    """The mapping that `block` holds in YAML. Raises MetadataError naming the line."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        values = yaml.load(block, loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MetadataError("bad_metadata", f"{where} is no YAML: {_one_line(error)}") from error
    return _mapping(values, where)


def _parse_toml(block: str, where: str) -> dict[str, object]:
    import tomllib

    try:
        return _mapping(tomllib.loads(block), where)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MetadataError("bad_metadata", f"{where} is no TOML: {_one_line(error)}") from error


def _mapping(values: Any, where: str) -> dict[str, object]:
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise MetadataError("bad_metadata", f"{where} must hold `key: value` lines")
    return {str(key): _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    """The value as JSON knows it: moments in ISO 8601, everything else unusual as its text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    return clean(str(value))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
