"""What is gone from its source: `--sync` withdraws it, and only that; its failures go anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.opened import now
from chunkprep_flows.plan import Withdrawals, withdrawals
from chunkprep_ingest.errors import KEY_CLASH
from chunkprep_ingest.left_out import left_out, may_be_there, moved_on, path_of
from chunkprep_ingest.listing import Listing, SourceFile, printable, shown
from chunkprep_ingest.source_filters import IGNORE_FILE
from chunkprep_store import Store

NOTHING = Withdrawals((), None)
REASON = "gone from its source"


def withdraw_gone(
    store: Store,
    settings: IngestSettings,
    listing: Listing,
    ended: Iterable[DocumentOutcome],
    outcomes: list[DocumentOutcome],
) -> Withdrawals:
    """Withdraw what is gone (in a dry run: foresee it), not what a filter leaves out; the decision.

    `ended` is how it ended with what is listed: a document whose file failed under another key
    stays. Each document is added to `outcomes` once it is withdrawn, so that a second try goes on.
    """
    collection = settings.collection
    if settings.dry_run and collection not in store.collections():
        return NOTHING
    standing = {d.document: d for d in store.documents(collection) if d.status != "withdrawn"}
    stored = {key: info.uri for key, info in standing.items()}
    hidden = _hidden(listing, stored) | _failed_elsewhere(listing, stored, ended)
    unlisted = listing.unlisted
    outside = left_out(listing, stored).difference(hidden)
    found = withdrawals(
        stored,
        listing.there | outside,
        listing.prefixes,
        empty=listing.empty(stored[key] for key in outside),
        hidden=hidden,
        unlisted=None if unlisted is None else unlisted.error.detail,
        allow_mass=settings.allow_mass_withdraw,
    )
    for key in found.documents:
        told: tuple[str, ...] = ()
        if not settings.dry_run:
            made = store.withdraw(collection, key, now=now(), reason=REASON, by="sync")
            told = tuple(moved.told for moved in made.moved)
        outcomes.append(DocumentOutcome(key, standing[key].version, "withdrawn", warnings=told))
    return found


def _hidden(listing: Listing, stored: Mapping[str, str]) -> dict[str, str]:
    """The documents that may be there at or below a file that cannot be read, and which it is."""
    hidden: dict[str, str] = {}
    for item in listing.unreadable:
        if item.scope != "file" or item.error.code == KEY_CLASH:
            continue
        below = (key for key, uri in stored.items() if item.hides(key, uri))
        hidden |= dict.fromkeys(below, item.error.detail)
    return hidden


def _failed_elsewhere(
    listing: Listing, stored: Mapping[str, str], ended: Iterable[DocumentOutcome]
) -> dict[str, str]:
    """The documents whose file is listed under another key, as which it failed, and why."""
    failed = {made.document: made.error["message"] for made in ended if made.error is not None}
    if not failed:
        return {}
    moved = moved_on(listing, stored).items()
    return {key: _told(file, failed[file.key]) for key, file in moved if file.key in failed}


def _told(file: SourceFile, reason: str) -> str:
    """Why the file failed, with its name."""
    name = printable(shown(file))
    return reason if name in reason else f"{name}: {reason}"


def forget_gone_failures(store: Store, settings: IngestSettings, listing: Listing) -> None:
    """Drop the failures of files that are gone: nobody can mend them.

    Where a path could not be listed, a file may still be there; one that is only left out by a
    filter is. Once all is listed, neither a folder nor its ignore file fails.
    """
    if not listing.complete:
        return
    listed = listing.keys
    prefixes = listing.prefixes
    for failure in store.failures(settings.collection):
        below = failure.uri.startswith(prefixes) and failure.document not in listed
        path = path_of(failure.uri)
        if below and (path.name == IGNORE_FILE or not may_be_there(path)):
            store.forget_failure(settings.collection, failure.document)
