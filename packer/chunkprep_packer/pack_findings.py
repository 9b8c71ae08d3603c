"""The failure signatures of the log of packs, as findings of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from chunkprep_ingest.model import Moment
from chunkprep_packer.signatures import Signature, of_tally, tally
from chunkprep_store import Finding, Store

CHECK = "signatures"
FEWEST_PACKS = 30
"""Fewer packs than this are no habit: the audit names their signatures only when asked to."""

RECENT = 30 * 24 * 3600 * 1_000_000
"""Microseconds of the log that the audit looks back on: it is about packing as it is now."""

_NOTES = frozenset({"always_exhausted"})
"""Signatures that a healthy log may show: a retriever may offer more than fits."""


def signature_findings(
    store: Store, collection: str, *, now: Moment, asked: bool = False
) -> Iterator[Finding]:
    """A finding for each signature of the recent log; of a short log too where `asked`. One more
    says how many packs could not be read.
    """
    sums = tally(store.packs(collection, since=now - RECENT))
    if sums.unreadable:
        yield _unreadable(sums.unreadable)
    for signature in of_tally(sums):
        if asked or signature.packs >= FEWEST_PACKS:
            yield _finding(signature)


def _unreadable(packs: int) -> Finding:
    text = f"{packs} packs of the log cannot be read, and are in no sum"
    remedy = "see which with `chunkprep audit --check pack_log`; restore their rows from a backup"
    return Finding(CHECK, "warning", None, None, None, text, remedy)


def _finding(signature: Signature) -> Finding:
    return Finding(
        check=CHECK,
        severity="info" if signature.code in _NOTES else "warning",
        document=None,
        version=None,
        chunk_id=None,
        message=f"{signature.code}: {signature.message}",
        remedy=signature.advice,
    )
