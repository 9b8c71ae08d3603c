"""What is gone from its source: `--sync` withdraws it, and only that; its failures go anyway."""

from __future__ import annotations

import os
from pathlib import Path

from chunkprep_flows.ingest_report import DocumentOutcome
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.opened import now
from chunkprep_flows.plan import Withdrawals, withdrawals
from chunkprep_ingest.listing import Listing
from chunkprep_ingest.source_filters import IGNORE_FILE
from chunkprep_ingest.sources import path_of
from chunkprep_store import Store

NOTHING = Withdrawals((), None)
REASON = "gone from its source"


def withdraw_gone(
    store: Store, settings: IngestSettings, listing: Listing, outcomes: list[DocumentOutcome]
) -> Withdrawals:
    """Withdraw what is gone (in a dry run: foresee it); what was decided.

    Each document is added to `outcomes` once it is withdrawn, so that a second try goes on.
    """
    collection = settings.collection
    if settings.dry_run and collection not in store.collections():
        return NOTHING
    standing = {d.document: d for d in store.documents(collection) if d.status != "withdrawn"}
    found = withdrawals(
        {key: info.uri for key, info in standing.items()},
        listing.keys,
        listing.root_uris,
        complete=listing.complete,
        allow_mass=settings.allow_mass_withdraw,
    )
    for key in found.documents:
        if not settings.dry_run:
            store.withdraw(collection, key, now=now(), reason=REASON, by="sync")
        outcomes.append(DocumentOutcome(key, standing[key].version, "withdrawn"))
    return found


def forget_gone_failures(store: Store, settings: IngestSettings, listing: Listing) -> None:
    """Drop the failures of files that are gone: nobody can mend them.

    Where a path could not be listed, a file may still be there; one that is only left out by a
    filter is.
    """
    if not listing.complete:
        return
    listed = listing.keys
    roots = tuple(root.rstrip("/") + "/" for root in listing.root_uris)
    for failure in store.failures(settings.collection):
        below = failure.uri.startswith(roots) and failure.document not in listed
        if below and not _is_document(path_of(failure.uri)):
            store.forget_failure(settings.collection, failure.document)


def _is_document(path: Path) -> bool:
    """Whether a file is there that may be one: a folder or an ignore file that failed is none."""
    return os.path.lexists(path) and path.name != IGNORE_FILE and not path.is_dir()
