"""Paths and globs in sources: the fixed folder at the front, and the pattern below it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote_to_bytes

from chunkprep_ingest.errors import RequestError

_MAGIC = frozenset("*?[")
_LITERAL = ("http://", "https://")
"""Where `?` starts a query, and nothing can be listed."""
_FILE = "file://"


def has_magic(text: str) -> bool:
    """Whether a path may be a glob."""
    return bool(_MAGIC & set(text))


def as_path(source: str) -> str:
    """A source that is no remote one as a path, which a file:// URL names too. Raises RequestError
    for one of another machine.
    """
    if not source.startswith(_FILE):
        return source
    host, slash, path = source.removeprefix(_FILE).partition("/")
    if host not in ("", "localhost") or not slash:
        raise RequestError(f"{source}: no path of this machine; write file:///PATH", "sources")
    return os.fsdecode(unquote_to_bytes(slash + path))


def split_path(source: str) -> tuple[Path, str]:
    """The fixed folder at the front of a glob, and the pattern below it. A last `**` is every file
    below, as it is for `matches`; pathlib's is every folder.
    """
    parts = Path(source).parts
    at = next(i for i, part in enumerate(parts) if has_magic(part))
    files = ("*",) if parts[-1] == "**" else ()
    return Path(*parts[:at]), str(Path(*parts[at:], *files))


def split_url(source: str) -> tuple[str, str | None]:
    """The same of a URL; the pattern is None where there is none. In a chain of URLs
    (`zip://*.md::s3://…`) the first one may hold a glob.
    """
    first, chained, rest = source.partition("::")
    protocol, mark, path = first.partition("://")
    if not mark or not has_magic(path) or source.startswith(_LITERAL):
        return source, None
    parts = path.split("/")
    at = next(i for i, part in enumerate(parts) if has_magic(part))
    return f"{protocol}://{'/'.join(parts[:at])}{chained}{rest}", "/".join(parts[at:])


def matches(relative: str, pattern: str) -> bool:
    """Whether a path matches a glob: `*` within a part, `**` for any number of parts."""
    return _match(relative.split("/"), pattern.split("/"))


def depth(pattern: str) -> int | None:
    """How many parts a path has that matches; None for any number."""
    parts = pattern.split("/")
    return None if "**" in parts else len(parts)


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _match(parts, pattern[1:]) or (bool(parts) and _match(parts[1:], pattern))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])
