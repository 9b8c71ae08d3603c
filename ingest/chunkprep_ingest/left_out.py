"""Documents whose files are there but not listed: a pattern or an ignore file leaves them out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from chunkprep_ingest.listing import Listing
from chunkprep_ingest.remote import is_remote


def path_of(uri: str) -> Path:
    """The file that the URI of a source file names."""
    return Path(os.fsdecode(unquote_to_bytes(urlsplit(uri).path)))


def left_out(listing: Listing, documents: Mapping[str, str]) -> set[str]:
    """Which of the documents (URIs by key) were left out of the folders listed, and are not gone.

    A file that is listed under another key has moved on, and is not left out.
    """
    roots = tuple(root.rstrip("/") + "/" for root in listing.root_uris)
    keys = listing.keys
    unlisted = {k: uri for k, uri in documents.items() if k not in keys and uri.startswith(roots)}
    listed = {file.uri for file in listing.files} if unlisted else set()
    return {key for key, uri in unlisted.items() if _is_left_out(uri, listed, listing.left_out)}


def looked_past(listing: Listing, documents: Mapping[str, str]) -> Iterator[str]:
    """The keys of those documents (URIs by key) that are not listed though they are there, as far
    as that can be told: with other files of a remote place that was not listed whole, they are.
    """
    keys, listed = listing.keys, {file.uri for file in listing.files}
    whole = tuple(root.rstrip("/") + "/" for root in listing.remote_roots)
    for key, uri in documents.items():
        if key not in keys:
            unknown = is_remote(uri) and uri not in listed and not uri.startswith(whole)
            if unknown or _is_left_out(uri, listed, listing.left_out):
                yield key


def is_file(path: Path) -> bool:
    """Whether a regular file is there, or may be where nobody may look."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _is_left_out(uri: str, listed: Set[str], remote: Set[str]) -> bool:
    if uri in listed:
        return False
    if is_remote(uri):
        return uri in remote
    path = path_of(uri)
    return is_file(path) and Path(os.path.realpath(path)).as_uri() not in listed
