"""Documents whose files are there but not listed: a pattern or an ignore file leaves them out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from chunkprep_ingest.listing import Listing, SourceFile, below
from chunkprep_ingest.remote import is_remote


def path_of(uri: str) -> Path:
    """The file that the URI of a source file names."""
    return Path(os.fsdecode(unquote_to_bytes(urlsplit(uri).path)))


def left_out(listing: Listing, documents: Mapping[str, str]) -> set[str]:
    """Which of the documents (URIs by key) were left out of the folders listed, and are not gone.

    A file that is listed under another key has moved on (`moved_on`), and is not left out.
    """
    keys, prefixes = listing.keys, listing.prefixes
    unlisted = {
        k: uri for k, uri in documents.items() if k not in keys and uri.startswith(prefixes)
    }
    return _there(unlisted, listing)


def looked_past(listing: Listing, documents: Mapping[str, str]) -> set[str]:
    """Which of those documents (URIs by key) are not listed though they are there, as far as that
    can be told: with other files of a remote place that was not listed whole, they are.
    """
    keys, listed = listing.keys, {file.uri for file in listing.files}
    whole = tuple(map(below, listing.remote_roots))
    unlisted = {key: uri for key, uri in documents.items() if key not in keys}
    unknown = {
        key
        for key, uri in unlisted.items()
        if is_remote(uri) and uri not in listed and not uri.startswith(whole)
    }
    return unknown | _there(unlisted, listing)


def moved_on(listing: Listing, documents: Mapping[str, str]) -> dict[str, SourceFile]:
    """Those of the documents (URIs by key) whose file is listed under another key, and that file:
    at its URI, or where links lead from there.
    """
    keys = listing.keys
    return _listed_at({k: uri for k, uri in documents.items() if k not in keys}, listing.files)


def _there(documents: Mapping[str, str], listing: Listing) -> set[str]:
    """Which of the documents are there, and listed under no other key."""
    there = {key: uri for key, uri in documents.items() if _is_there(uri, listing)}
    return there.keys() - _listed_at(there, listing.files)


def _listed_at(documents: Mapping[str, str], files: Iterable[SourceFile]) -> dict[str, SourceFile]:
    """The documents that are one of the files, and which."""
    if not documents:
        return {}
    by_place = {file.real or os.path.realpath(file.path): file for file in files}
    by_place |= {file.uri: file for file in by_place.values() if is_remote(file.uri)}
    places = {
        key: uri if is_remote(uri) else os.path.realpath(path_of(uri))
        for key, uri in documents.items()
    }
    return {key: by_place[place] for key, place in places.items() if place in by_place}


def _is_there(uri: str, listing: Listing) -> bool:
    return uri in listing.left_out if is_remote(uri) else may_be_there(path_of(uri))


def same_file(uri: str, path: str) -> bool:
    """Whether the URI of a source file leads to the file at this path, links followed."""
    return not is_remote(uri) and os.path.realpath(path_of(uri)) == os.path.realpath(path)


def may_be_there(path: Path) -> bool:
    """Whether a regular file is there, or may be: where nobody may look, or behind a link that
    leads nowhere now.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return any(_dangles(place) for place in (path, *path.parents))
    except OSError:
        return True


def _dangles(path: Path) -> bool:
    return path.is_symlink() and not os.path.exists(path)  # noqa: PTH110 - which never raises
