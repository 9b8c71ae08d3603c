"""Remote sources (s3://, https://, zip:// …) as local folders, by fsspec.

A mirror keeps what was downloaded, and each object's etag. What the listing shows unchanged is not
downloaded again, and everything after the listing works on files.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.source_globs import depth, matches, split_url
from chunkprep_ingest.source_trouble import is_passing, reason_of
from chunkprep_ingest.url_names import file_name
from chunkprep_ingest.url_secrets import expanded, hidden, without_secrets

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "azure", "az": "azure"}
_MARKS = ("ETag", "etag", "CRC", "LastModified", "last_modified", "mtime", "created", "updated")
"""What a listing may say of an object that moves when its bytes do; a size says too little."""
_SINGLE = ("http", "https")
"""Protocols without a listing: a URL is one file."""


class Lost(NamedTuple):
    """An object that could not be mirrored, and why. `relative` "" is the source itself;
    `passing` trouble may be over in a moment.
    """

    relative: str
    reason: str
    passing: bool = False


class Wanted(NamedTuple):
    """What of a source is downloaded.

    `takes` tells which paths below it count as documents, `ours` which say something of others,
    `filters` names that choice: each has a mirror of its own. Nothing more once `stop_asked`.
    """

    takes: Callable[[str], bool]
    ours: Callable[[str], bool]
    filters: str
    stop_asked: Callable[[], bool]


Kind = Literal["folder", "file", "glob", "away"]
"""What a URL names; of one that is away nothing is known, whatever an earlier run downloaded."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A remote source, mirrored: `root` is the local folder of what stands at or below `url`.

    `objects` are all that stand there, the `files` those that count.
    """

    url: str
    root: Path
    files: tuple[str, ...]
    lost: tuple[Lost, ...]
    kind: Kind
    objects: tuple[str, ...] = ()

    def uri(self, relative: str) -> str:
        """The URL of the object at this path below the source, which one file is itself."""
        if self.kind == "file":
            return self.url
        return f"{self.url}{'' if self.url.endswith('/') else '/'}{relative}"


def is_remote(source: str) -> bool:
    """Whether a source is a URL of something else than this machine's files."""
    return ("://" in source or "::" in source) and not source.startswith("file://")


def default_home() -> Path:
    """Where mirrors are kept unless told otherwise: the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "chunkprep" / "remote"


def mirror(source: str, home: Path, wanted: Wanted) -> Mirror:
    """Bring the local folder of a source up to date. It is named after the URL with references, so
    that it stays when a password changes.

    Raises RequestError where the extra is missing that knows the protocol.
    """
    folder = home / fingerprint(source, wanted.filters)[:32]
    root = folder / "files"
    try:
        found = _found(source)
    except RequestError:
        raise
    except Exception as error:  # whatever a service and its library say
        lost = Lost("", _told(error, source), is_passing(error))
        return Mirror(without_secrets(source), root, (), (lost,), "away")
    takes = {
        relative: info
        for relative, info in found.objects.items()
        if found.kind == "file" or wanted.ours(relative) or _taken(relative, found, wanted)
    }
    with _locked(folder):
        there, missed = _fetch(found.system, takes, folder, root, wanted.stop_asked, source)
    if found.kind == "glob" and not any(not wanted.ours(relative) for relative in takes):
        missed = (*missed, Lost("", "no file matches"))
    return Mirror(found.url, root, there, missed, found.kind, tuple(found.objects))


class _Found(NamedTuple):
    """What stands below a source, by its path there."""

    system: Any
    url: str
    objects: Mapping[str, Mapping[str, Any]]
    kind: Kind
    pattern: str | None = None


def _found(source: str) -> _Found:
    fixed, pattern = split_url(source)
    if pattern is not None:
        system, base = _opened(source)
        if not system.isfile(base):  # a name may hold what a glob is made of
            system, base = _opened(fixed)
            objects = _below(system, base, depth(pattern))
            return _Found(system, without_secrets(fixed), objects, "glob", pattern)
    system, base = _opened(source)
    url = without_secrets(source)
    if url.startswith(_SINGLE) or system.isfile(base):
        info = system.info(base)
        return _Found(system, url, {file_name(url, info.get("mimetype")): info}, "file")
    return _Found(system, url, _below(system, base, None), "folder")


def _taken(relative: str, found: _Found, wanted: Wanted) -> bool:
    in_glob = found.pattern is None or matches(relative, found.pattern)
    return in_glob and wanted.takes(relative)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time brings a mirror up to date, where the system has such locks."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _opened(source: str) -> tuple[Any, str]:
    protocol = source.partition("://")[0].rpartition("::")[2]
    extra = _EXTRAS.get(protocol, "remote")
    try:
        import fsspec  # type: ignore[import-untyped]

        url = expanded(source, os.environ)
        found: tuple[Any, str] = fsspec.core.url_to_fs(url, **_fresh(protocol))
    except ImportError as error:
        raise RequestError(
            f"{protocol}:// needs a library that is not there: run "
            f"`pip install 'chunkprep[{extra}]'` ({error})",
            "sources",
        ) from error
    except ValueError as error:
        told = f"{without_secrets(source)}: {_told(error, source)}; check the URL"
        raise RequestError(told, "sources") from error
    return found


def _fresh(protocol: str) -> dict[str, Any]:
    """A listing of today, not one that an earlier run of this process remembers."""
    return {"use_listings_cache": False} if protocol in ("s3", "s3a", "gs", "gcs") else {}


def _below(system: Any, base: str, most: int | None) -> dict[str, Mapping[str, Any]]:
    """What stands below a folder by its path there, at most so many parts deep."""
    found = system.find(base, detail=True, maxdepth=most)
    if not found and not system.isdir(base):
        raise FileNotFoundError("no such file or folder")
    front = base.rstrip("/") + "/" if base.strip("/") else base
    return {path.removeprefix(front).lstrip("/"): info for path, info in found.items()}


def _fetch(
    system: Any,
    wanted: Mapping[str, Mapping[str, Any]],
    folder: Path,
    root: Path,
    stop_asked: Callable[[], bool],
    source: str,
) -> tuple[tuple[str, ...], tuple[Lost, ...]]:
    """Download what is new or changed, remove what is gone, and keep the marks for next time;
    what is there now, and what could not be had.
    """
    index = folder / "marks.json"
    before = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    root.mkdir(parents=True, exist_ok=True)
    for gone in set(before) - set(wanted):
        (root / gone).unlink(missing_ok=True)
    kept = {relative: mark for relative, mark in before.items() if relative in wanted}
    marks: dict[str, str] = {}
    lost: list[Lost] = []
    try:
        for relative, info in sorted(wanted.items()):
            mark = _mark(info)
            kept.pop(relative, None)
            try:
                if mark is None or before.get(relative) != mark or not (root / relative).is_file():
                    if stop_asked():
                        continue
                    _download(system, info["name"], root, relative)
                marks[relative] = mark or ""
            except Exception as error:  # whatever a service and its library say
                lost.append(Lost(relative, _told(error, source), is_passing(error)))
    finally:
        part = index.with_suffix(".part")
        part.write_text(json.dumps({**kept, **marks}), encoding="utf-8")
        part.replace(index)
    return tuple(sorted(marks)), tuple(lost)


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


def _told(error: Exception, source: str) -> str:
    """What a library says, without the secrets that it repeats; where that is little but a URL, the
    reason behind it.
    """
    told = " ".join(str(error).split())
    if not told or "://" in told:
        told = reason_of(error) or told or type(error).__name__
    return hidden(hidden(told, expanded(source, os.environ)), source)
