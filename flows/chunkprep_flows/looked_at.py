"""What a run looked at, source by source, for its record: what freshness is told from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_ingest.errors import KEY_CLASH
from chunkprep_ingest.freshness import Look, homes, source_of, tallied
from chunkprep_ingest.left_out import looked_past
from chunkprep_ingest.listing import Listing, Unreadable
from chunkprep_store import Store


def looked_at(
    store: Store, collection: str, listing: Listing, outcomes: Iterable[DocumentOutcome]
) -> list[dict[str, Any]]:
    """The looks of a run that came to its end, compared with what the collection has now."""
    became: dict[str, str] = {outcome.document: outcome.outcome for outcome in outcomes}
    standing = store.standing(collection)
    found = seen(listing, became, homes(standing))
    unlisted: dict[str, dict[str, str]] = {look.source: {} for look in found}
    for key, uri in standing.items():
        if key not in became:
            unlisted.get(source_of(uri, key), {})[key] = uri
    return [_compared(look, listing, unlisted[look.source])._asdict() for look in found]


def seen(
    listing: Listing, outcomes: Mapping[str, str], known_uris: Mapping[str, str]
) -> list[Look]:
    """What the listing holds of each source; `known_uris` are the sources of documents, by URI."""
    asked = {root.resolve().as_uri() for root in listing.roots} | {*listing.remote_roots}
    files = [(source_of(file.uri, file.key), file.key) for file in listing.files]
    known = asked.union(source for source, _ in files)
    lost: list[str] = []
    for item in listing.unreadable:
        source = _source_of(item, known, known_uris)
        if item.scope != "file" or (source not in known and item.error.code != KEY_CLASH):
            lost.append(source)
        else:
            files.append((source, item.key))
    return tallied(asked, lost, files, outcomes)


def _source_of(item: Unreadable, known: set[str], known_uris: Mapping[str, str]) -> str:
    """The source that a path is in; where it is in none that was found, or is one, itself. That of
    a document that the collection has is the document's.
    """
    uri = item.uri or (item.path.parent.resolve() / item.path.name).as_uri()
    if uri in known_uris:
        return known_uris[uri]
    above = source_of(uri, item.key)
    clashes = item.error.code == KEY_CLASH
    return above if clashes or (uri not in known and above in known) else uri


def _compared(look: Look, listing: Listing, unlisted: Mapping[str, str]) -> Look:
    """The look with what of the collection's documents from there it did not list."""
    if not look.whole or not unlisted:
        return look
    if looked_past(listing, unlisted):
        return look._replace(left_out=1)
    return look._replace(gone=len(unlisted))
