"""The audit with what only this layer knows: source files, index files, the tokenizer, and what
the packer reads in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chunkprep_flows.steps import Step, at_once
from chunkprep_flows.wording import counted
from chunkprep_ingest.errors import ReadError, RequestError
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.left_out import left_out, moved_on
from chunkprep_ingest.listing import Listing, Unreadable, printable, shown
from chunkprep_ingest.model import Moment
from chunkprep_ingest.regular_file import read_regular
from chunkprep_ingest.tokens import counter_for
from chunkprep_packer import pack_findings
from chunkprep_store import CHECKS, Finding, Sources, Store, UnreadSource

if TYPE_CHECKING:
    from chunkprep_flows.gathering import SourceSettings

AUDITED = "the collection was audited, which changes nothing"
Recount = Literal["all"] | int | None
ALL_CHECKS = (*CHECKS, pack_findings.CHECK)
"""The store's checks, and the packer's."""


def findings(
    store: Store,
    collection: str,
    *,
    now: Moment,
    listing: Listing | None = None,
    index_ids: Path | None = None,
    recount: Recount = None,
    checks: Sequence[str] = (),
) -> Iterator[Finding]:
    """Every finding of the audit. `listing`: of the sources to compare with; `recount`: "all"
    chunks, or about so many.

    Raises RequestError for a check that does not exist.
    """
    for name in checks:
        if name not in ALL_CHECKS:
            raise RequestError(
                f"{name!r} is no check; use one of {', '.join(ALL_CHECKS)}", "checks"
            )
    stored = [name for name in checks if name != pack_findings.CHECK]
    asked = pack_findings.CHECK in checks
    if stored or not checks:
        yield from _stored_findings(
            store, collection, now, listing, index_ids, recount, stored or None
        )
    if asked or not checks:
        yield from pack_findings.signature_findings(store, collection, now=now, asked=asked)


def _stored_findings(
    store: Store,
    collection: str,
    now: Moment,
    listing: Listing | None,
    index_ids: Path | None,
    recount: Recount,
    checks: Sequence[str] | None,
) -> Iterator[Finding]:
    return store.audit(
        collection,
        now=now,
        checks=checks,
        recount=recount,
        counters=counter_for if recount is not None else None,
        sources=None if listing is None else source_state(store, collection, listing),
        index_ids=None if index_ids is None else read_ids(index_ids),
    )


def sources_listed(settings: SourceSettings, step: Step = at_once) -> Listing | None:
    """The files to compare with; None where no source is named."""
    if not settings.sources:
        return None
    from chunkprep_flows.gathering import listing_of  # the `ingest` extra; the rest does without

    return listing_of(settings, step)


def source_state(store: Store, collection: str, listing: Listing) -> Sources:
    """The hash of each listed file's bytes now, None where it is not known, and what could not be
    read.

    A document from outside the folders listed is none of the listing's business, nor is one that a
    filter leaves out; one at or below a path that could not be listed may still be there.
    """
    prefixes = listing.prefixes
    found = list(store.documents(collection))
    stored = {info.document: info.uri for info in found}
    standing = {info.document: info.uri for info in found if info.status != "withdrawn"}
    hashes: dict[str, str | None] = {
        document: None for document, uri in stored.items() if not uri.startswith(prefixes)
    }
    hashes |= dict.fromkeys(left_out(listing, stored))
    unread = {item.key: _unread(item, standing, hashes) for item in listing.unreadable}
    for file in listing.files:
        try:
            hashes[file.key] = bytes_hash(read_regular(file.path))
        except OSError as error:
            told = f"{printable(shown(file))}: {error.strerror or error}"
            item = Unreadable(file.key, file.path, ReadError("unreadable", told), file.uri)
            unread[file.key] = _unread(item, standing, hashes)
    moved = {key: file.key for key, file in moved_on(listing, standing).items()}
    return Sources(hashes, unread=tuple(unread[key] for key in sorted(unread)), moved=moved)


def _unread(
    item: Unreadable, standing: Mapping[str, str], hashes: dict[str, str | None]
) -> UnreadSource:
    """A path that could not be read; with it nothing is known of the documents that it hides."""
    hidden = [key for key, uri in standing.items() if item.hides(key, uri)]
    hashes |= dict.fromkeys([item.key, *hidden])
    own = next((key for key in hidden if standing[key] == item.uri), item.key)
    below = sum(key != own for key in hidden)
    more = f"; {counted(below, 'document')} there not compared" if below else ""
    return UnreadSource(item.error.detail + more, item.error.remedy, own)


def read_ids(path: Path) -> frozenset[str]:
    """The chunk ids in a file, one a line. Raises ReadError where it is no text."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError("unreadable", f"{path}: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip())
