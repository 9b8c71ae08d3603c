"""Remote sources (s3://, https://, zip:// …) as local folders, by fsspec.

A mirror keeps what was downloaded, and each object's etag. What the listing shows unchanged is not
downloaded again, and everything after the listing works on files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.ids import fingerprint

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "azure", "az": "azure"}
_MARKS = ("ETag", "etag", "CRC", "LastModified", "last_modified", "mtime", "created", "updated")
"""What a listing may say of an object that moves when its bytes do; a size says too little."""
_SINGLE = ("http", "https")
"""Protocols without a listing: a URL is one file."""


class Lost(NamedTuple):
    """An object that could not be mirrored, and why. `relative` "" is the source itself."""

    relative: str
    reason: str


@dataclass(frozen=True, slots=True)
class Mirror:
    """A remote source, mirrored: `root` is the local folder of what stands below `url`.

    `whole` tells a folder from a single file.
    """

    url: str
    root: Path
    files: tuple[str, ...]
    lost: tuple[Lost, ...]
    whole: bool

    def uri(self, relative: str) -> str:
        """The URL of the object at this path below the source."""
        return f"{self.url}{'' if self.url.endswith('/') else '/'}{relative}"


def is_remote(source: str) -> bool:
    """Whether a source is a URL of something else than this machine's files."""
    return ("://" in source or "::" in source) and not source.startswith("file://")


def default_home() -> Path:
    """Where mirrors are kept unless told otherwise: the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "chunkprep" / "remote"


def mirror(source: str, home: Path, takes: Callable[[str], bool], filters: str) -> Mirror:
    """Bring the local folder of a source up to date.

    `takes` tells which paths below it count, `filters` names that choice: each has its own folder.
    Raises RequestError where the extra is missing that knows the protocol.
    """
    url = _plain(source)
    folder = home / fingerprint(source, filters)[:32]
    root = folder / "files"
    try:
        system, base = _opened(source)
        objects, whole = _objects(system, base, url)
    except RequestError:
        raise
    except Exception as error:  # whatever a service and its library say
        return Mirror(url, root, (), (Lost("", _told(error)),), whole=True)
    wanted = {relative: info for relative, info in objects.items() if not whole or takes(relative)}
    lost = _fetch(system, wanted, folder, root)
    there = sorted(set(wanted) - {item.relative for item in lost})
    return Mirror(url if whole else url.rpartition("/")[0], root, tuple(there), lost, whole)


def _plain(source: str) -> str:
    """The URL as it is stored: without a password, or a query, which may be a signature."""
    url = re.sub(r"://[^/@:]+:[^/@]*@", "://", source)
    url = url.partition("?")[0] if url.startswith(_SINGLE) else url
    return url if url.endswith("://") else url.rstrip("/")


def _opened(source: str) -> tuple[Any, str]:
    protocol = source.partition("://")[0].rpartition("::")[2]
    extra = _EXTRAS.get(protocol, "remote")
    try:
        import fsspec  # type: ignore[import-untyped]

        found: tuple[Any, str] = fsspec.core.url_to_fs(source, **_fresh(protocol))
    except ImportError as error:
        raise RequestError(
            f"{protocol}:// needs a library that is not there: run "
            f"`pip install 'chunkprep[{extra}]'` ({error})",
            "sources",
        ) from error
    except ValueError as error:
        raise RequestError(f"{source}: {error}; check the URL", "sources") from error
    return found


def _fresh(protocol: str) -> dict[str, Any]:
    """A listing of today, not one that an earlier run of this process remembers."""
    return {"use_listings_cache": False} if protocol in ("s3", "s3a", "gs", "gcs") else {}


def _objects(system: Any, base: str, url: str) -> tuple[dict[str, Mapping[str, Any]], bool]:
    """What stands below the source by its path there, and whether that is a folder."""
    if url.startswith(_SINGLE) or system.isfile(base):
        return {PurePosixPath(url).name or "index.html": system.info(base)}, False
    found = system.find(base, detail=True)
    if not found and not system.isdir(base):
        raise FileNotFoundError("no such file or folder")
    front = base.rstrip("/") + "/" if base.strip("/") else base
    return {path.removeprefix(front).lstrip("/"): info for path, info in found.items()}, True


def _fetch(
    system: Any, wanted: Mapping[str, Mapping[str, Any]], folder: Path, root: Path
) -> tuple[Lost, ...]:
    """Download what is new or changed, remove what is gone, and keep the marks for next time."""
    index = folder / "marks.json"
    before = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    root.mkdir(parents=True, exist_ok=True)
    for gone in set(before) - set(wanted):
        (root / gone).unlink(missing_ok=True)
    marks: dict[str, str] = {}
    lost: list[Lost] = []
    for relative, info in sorted(wanted.items()):
        mark = _mark(info)
        try:
            if mark is None or before.get(relative) != mark or not (root / relative).is_file():
                _download(system, info["name"], root, relative)
            marks[relative] = mark or ""
        except Exception as error:  # whatever a service and its library say
            lost.append(Lost(relative, _told(error)))
    part = index.with_suffix(".part")
    part.write_text(json.dumps(marks), encoding="utf-8")
    part.replace(index)
    return tuple(lost)


def _download(system: Any, name: str, root: Path, relative: str) -> None:
    """One object, whole or not at all. Raises OSError for a name that would leave the folder."""
    target = root / relative
    if PurePosixPath(relative).is_absolute() or ".." in PurePosixPath(relative).parts:
        raise OSError(f"{relative!r} is no path below its source")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    try:
        with system.open(name, "rb") as source, part.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _mark(info: Mapping[str, Any]) -> str | None:
    """What tells an object's state apart from another one's; None where nothing does."""
    told = [f"{name}={info[name]}" for name in _MARKS if info.get(name)]
    return fingerprint(*told, str(info.get("size"))) if told else None


def _told(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
