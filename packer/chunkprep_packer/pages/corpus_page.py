"""The corpus page: how large blocks are, of which kinds, and which documents will need care."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.block_sizes import block_sizes
from chunkprep_packer.eligibility import opens
from chunkprep_store import Store, VersionInfo

DAY = 86_400_000_000
"""Microseconds."""

SOON = 90 * DAY
"""What ends or is to be reviewed within this time is shown as coming up."""

MOST_COMING = 100
"""Documents shown of what is coming up, the next ones."""

LISTED = 100
"""Documents on one page of the list."""

AGES = ((7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "1 year"))
COVERAGES = ((0.9, "below 90 %"), (0.98, "90 to 98 %"), (0.999, "98 to 99.9 %"))


def corpus_facts(store: Store, collection: str, *, at: Moment) -> dict[str, Any]:
    """Everything the page shows. Raises NotFoundError for an unknown collection."""
    policy = store.primary_policy(collection)
    sizes = block_sizes(store.sizes(collection, at=at), None if policy is None else policy.cap)
    documents = list(store.documents(collection))
    soon = coming_up(documents, at)
    return {
        "collection": collection,
        "at": iso(at),
        "documents": store.document_counts(collection, at=at)._asdict(),
        "sizes": asdict(sizes),
        "steps": _steps(sizes.histogram),
        "kinds": store.kinds(collection, at=at),
        "largest": [block._asdict() for block in store.largest(collection, at=at)],
        "status": dict(sorted(Counter(info.status for info in documents).items())),
        "ages": _ages(documents, at),
        "coverage": _coverage(documents),
        "coming_up": soon[:MOST_COMING],
        "coming_count": len(soon),
    }


def _steps(histogram: Sequence[int]) -> dict[str, int]:
    last = len(histogram) - 1
    steps = {f"{k * 10} to {k * 10 + 10} %": histogram[k] for k in range(last)}
    return {**steps, "over the cap": histogram[last]} if histogram else {}


def _ages(documents: Iterable[VersionInfo], at: Moment) -> dict[str, int]:
    found = dict.fromkeys([name for _, name in AGES] + ["older"], 0)
    for info in documents:
        age = (at - info.ingested_at) / DAY
        found[next((name for days, name in AGES if age <= days), "older")] += 1
    return found


def _coverage(documents: Iterable[VersionInfo]) -> dict[str, int]:
    found = dict.fromkeys([name for _, name in COVERAGES] + ["99.9 % and more"], 0)
    for info in documents:
        step = next((name for most, name in COVERAGES if info.coverage < most), "99.9 % and more")
        found[step] += 1
    return found


def coming_up(documents: Iterable[VersionInfo], at: Moment) -> list[dict[str, Any]]:
    """What ends, or is to be reviewed, before long; what is overdue for review too."""
    found: list[tuple[Moment, str, VersionInfo]] = []
    for info in documents:
        if info.effective_to is not None and at <= info.effective_to <= at + SOON:
            found.append((info.effective_to, "expires", info))
        if info.review_by is not None and info.review_by <= at + SOON and info.status == "active":
            what = "review overdue" if info.review_by <= at else "review due"
            found.append((info.review_by, what, info))
    return [
        {"when": iso(when), "what": what, "document": info.document, "version": info.version}
        for when, what, info in sorted(found, key=lambda one: (one[0], one[2].document))
    ]


def document_list(
    store: Store,
    collection: str,
    *,
    at: Moment,
    labels: frozenset[str] | None = None,
    find: str = "",
    first: int = 0,
) -> dict[str, Any]:
    """Documents that a caller with these labels (None: any) may see: LISTED from `first` on of
    those whose key or title contains `find`, in whatever case.
    """
    wanted = find.casefold()
    infos = [
        info
        for info in store.documents(collection)
        if opens(labels, info.access) and wanted in f"{info.document}\n{info.title}".casefold()
    ]
    return {
        "collection": collection,
        "at": iso(at),
        "find": find,
        "found": len(infos),
        "first": first,
        "previous": max(first - LISTED, 0) if first else None,
        "next": first + LISTED if first + LISTED < len(infos) else None,
        "documents": [
            {
                "document": info.document,
                "title": info.title,
                "version": info.version,
                "status": info.status,
                "chunks": info.chunks,
                "tokens": info.tokens,
            }
            for info in infos[first : first + LISTED]
        ],
    }
