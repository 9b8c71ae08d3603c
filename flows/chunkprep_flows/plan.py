"""What an ingest run has to do, decided from values: no files, no store, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from chunkprep_flows.wording import counted
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import Fingerprints
from chunkprep_ingest.readers import reads_alike
from chunkprep_store import KnownDocument

_BATCHES_EACH = 4
MAX_ATTEMPTS = 3
"""Runs that make the same failing attempt; after that only a change or --retry does."""

GUARD_DOCUMENTS = 10
GUARD_SHARE = 0.15
"""A sync that would withdraw more than both needs --allow-mass-withdraw."""

Step = Literal["ingest", "unchanged", "given_up", "erased"]


class Work(NamedTuple):
    """One file to read: what a batch task is given. `size` in bytes."""

    document: str
    uri: str
    path: str
    root: str
    size: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A listed file whose bytes were hashed.

    `metadata_json` is what its front matter, sidecar and rules say now; None where that cannot be
    told without reading the document. `attempt` is the key of the attempt that reading it would
    be, needed where the last one failed; `fallback_encoding` None leaves what was read as it is.
    """

    work: Work
    bytes_hash: str
    fingerprints: Fingerprints
    metadata_json: str | None
    attempt: str | None = None
    fallback_encoding: str | None = None


def next_step(seen: Seen, known: KnownDocument | None, *, retry: bool) -> Step:
    """Whether a file has to be read, stands as it is, has failed too often, or was erased."""
    if known is None:
        return "ingest"
    if known.erased:
        return "erased"
    if known.attempts:
        tried = known.failed_attempt is not None and known.failed_attempt == seen.attempt
        tried = tried and known.attempts >= MAX_ATTEMPTS
        return "given_up" if tried and not retry else "ingest"
    return "unchanged" if _stands(seen, known) else "ingest"


def _stands(seen: Seen, known: KnownDocument) -> bool:
    """Whether reading the file again could change nothing."""
    return (
        known.whole
        and not (known.status == "withdrawn" and known.closed_by == "sync")
        and known.bytes_hash == seen.bytes_hash
        and _made_alike(seen, known.fingerprints)
        and known.metadata_json is not None
        and known.metadata_json == seen.metadata_json
        and known.uri == seen.work.uri
    )


def _made_alike(seen: Seen, stored: Fingerprints | None) -> bool:
    now = seen.fingerprints
    if stored is None or (stored.policy, stored.profile) != (now.policy, now.profile):
        return False
    return reads_alike(stored.reader, now.reader, seen.fallback_encoding)


def batch_size(documents: int, *, workers: int, most: int) -> int:
    """Documents of a batch: `most`, which spares what each batch costs by itself, or fewer, so
    that each worker gets several and progress is seen.
    """
    return max(1, min(most, -(-documents // (workers * _BATCHES_EACH))))


def batches(work: Iterable[Work], *, documents: int, size: int) -> Iterator[tuple[Work, ...]]:
    """The work in order, cut after so many documents or bytes, whichever comes first."""
    batch: list[Work] = []
    total = 0
    for item in work:
        if batch and (len(batch) >= documents or total + item.size > size):
            yield tuple(batch)
            batch, total = [], 0
        batch.append(item)
        total += item.size
    if batch:
        yield tuple(batch)


class Withdrawals(NamedTuple):
    """Documents that a sync withdraws, or why it withdraws none of so many that are gone; and a
    warning of those that may be there, though they cannot be read.
    """

    documents: tuple[str, ...]
    refused: str | None
    spared: int = 0
    kept: str | None = None


def withdrawals(
    stored: Mapping[str, str],
    listed: Set[str],
    prefixes: Sequence[str],
    *,
    empty: Sequence[str] = (),
    hidden: Mapping[str, str] = MappingProxyType({}),
    unlisted: str | None = None,
    allow_mass: bool,
) -> Withdrawals:
    """Which stored documents are gone from the folders that were listed.

    `stored` maps the keys of documents in force to their URIs; `prefixes` are what the URIs below
    the folders listed whole begin with, `empty` those of them below which nothing was found. A
    document from elsewhere is none of this run's business, one that is `hidden` (by key, what hides
    it and why) may be there; a folder that is `unlisted` says nothing about what is gone. Shares
    are of the documents that came from those folders.
    """
    theirs = [key for key, uri in stored.items() if uri.startswith(tuple(prefixes))]
    unseen = sorted(key for key in theirs if key not in listed)
    kept = _kept([hidden[key] for key in unseen if key in hidden])
    gone = tuple(key for key in unseen if key not in hidden)
    lost = [place for place in empty if any(stored[key].startswith(place) for key in gone)]
    refused = _refusal(len(gone), len(theirs), empty=lost, unlisted=unlisted, allow_mass=allow_mass)
    if refused is not None:
        return Withdrawals((), refused, len(gone), kept)
    return Withdrawals(gone, None, kept=kept)


def _kept(hiding: Sequence[str]) -> str | None:
    """A warning for documents that may be there, each by what hides it; None for none."""
    if not hiding:
        return None
    more = len(set(hiding)) - 1
    return (
        f"sync: what cannot be read is not gone: {hiding[0]}{f' (and {more} more)' if more else ''}"
        f"; {counted(len(hiding), 'document')} there {'stays' if len(hiding) == 1 else 'stay'} in "
        f"force"
    )


def _refusal(
    gone: int, stored: int, *, empty: Sequence[str], unlisted: str | None, allow_mass: bool
) -> str | None:
    """Why so many of so many documents are not withdrawn; None where they are."""
    if not gone:
        return None
    if unlisted is not None:
        return (
            f"sync: a path could not be listed ({unlisted}), so none of {gone} missing documents "
            f"is withdrawn"
        )
    many = gone > GUARD_DOCUMENTS and gone > GUARD_SHARE * stored
    if allow_mass or not (empty or many):
        return None
    rule = (
        f"no document was found in {empty[0]}"
        if empty
        else f"the guard is more than {GUARD_DOCUMENTS} documents and {GUARD_SHARE:.0%}"
    )
    return (
        f"sync: {gone} of {stored} documents are gone from their source ({rule}); none is "
        f"withdrawn; check the source, or pass --allow-mass-withdraw"
    )


def same_key_other_place(judged: Iterable[Judged]) -> str | None:
    """A warning for documents that were last read from another place, if there are some."""
    moved = [(found.known.uri, found.work) for found in judged if found.moved and found.known]
    if not moved:
        return None
    old, first = moved[0]
    more = f", and {len(moved) - 1} more" if len(moved) > 1 else ""
    return (
        f"same key, other place: {first.document} was read from {old} and is now {first.uri}{more}"
        f"; if these are different documents, name a folder above both or give each a --collection"
    )


class Judged(NamedTuple):
    """A listed file and what is to be done with it."""

    work: Work
    step: Step
    known: KnownDocument | None

    @property
    def moved(self) -> bool:
        """Whether the document was last read from another place than where it is now."""
        known = self.known
        if known is None or known.version is None or known.status == "withdrawn":
            return False
        return not known.erased and known.uri != self.work.uri


class Refused(NamedTuple):
    """A listed path that is not read: `error` says why, `loud` whether that is a failure."""

    document: str
    uri: str
    error: ReadError
    loud: bool
