"""How fresh a collection is: the one rule, over what the records of its ingests say.

A source is what keys are relative to: the folder or URL above the documents. An ingest looked at a
source whole when it came to its end, listed the source to its end, read something of it, and
looked past nothing that the collection has from there. A collection is as fresh as the source of
its documents that was last looked at whole the longest ago.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar
from unicodedata import normalize

from chunkprep_ingest.model import Moment

Ending = Literal["done", "failures", "stopped", "error", "unfinished"]

RECORD = "looked_at"
"""Where the summary of a run keeps its looks."""


class Look(NamedTuple):
    """What an ingest saw of one source, named by its URI.

    `listed`: to its end; `documents`: those found there, of which so many `failed`; `left_out`:
    documents that the collection has from there, whose files are there too, and that it looked
    past (1 for some); `gone`: those whose files are not there any more.
    """

    source: str
    listed: bool
    documents: int = 0
    failed: int = 0
    left_out: int = 0
    gone: int = 0

    @property
    def whole(self) -> bool:
        """Whether all that the collection has from the source was looked at."""
        return self.listed and self.documents > self.failed and not self.left_out


class Ran(Protocol):
    """A run, as its record tells of it."""

    @property
    def kind(self) -> str:
        """`ingest`, or something that looks at no source."""
        ...

    @property
    def finished_at(self) -> Moment | None:
        """When it ended."""
        ...

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """What it did; None while it is under way, or where it was killed."""
        ...


R = TypeVar("R", bound=Ran)


@dataclass(frozen=True, slots=True)
class SourceRuns(Generic[R]):
    """The ingests of one source: the last one that came to its end and what it saw, the last one
    that looked at it whole, and the last one that did so without a failure. None of any is known
    of a source whose first ingest was stopped or killed, or is too long ago.
    """

    source: str
    last: R | None = None
    look: Look | None = None
    whole: R | None = None
    clean: R | None = None


def source_of(uri: str, document: str) -> str:
    """What a document's key is relative to: its URI without as many parts as the key has. Where
    those are no part of its path, the URL names the document as a whole, and is the source itself:
    the front page of a host, or one file of an archive, which is named before the archive.
    """
    front, mark, path = uri.rpartition("://")
    parts = document.count("/") + 1
    if uri == document or path.count("/") < parts or _names_first(uri, document):
        return uri
    return front + mark + path.rsplit("/", parts)[0]


def _names_first(uri: str, document: str) -> bool:
    """Whether it is a chain of URLs whose first one names the document."""
    first, chained, _ = uri.partition("::")
    return bool(chained) and normalize("NFC", first.rpartition("/")[2]) == document


def homes(standing: Mapping[str, str]) -> dict[str, str]:
    """The source of each document's URI, of the URIs by key."""
    return {uri: source_of(uri, key) for key, uri in standing.items()}


def ending(summary: Mapping[str, Any] | None) -> Ending:
    """How a run ended: `done`, `failures` (of documents, or a withdrawal that was refused),
    `stopped`, `error`; `unfinished` where nothing says so: it is under way, or was killed.
    """
    if summary is None:
        return "unfinished"
    if summary.get("error"):
        return "error"
    if summary.get("stopped"):
        return "stopped"
    return "failures" if summary.get("failed") or summary.get("spared") else "done"


def looks(summary: Mapping[str, Any] | None) -> list[Look]:
    """What the run saw of each source, as its record says."""
    return [Look(**look) for look in (summary or {}).get(RECORD, ())]


def with_older(known: Mapping[str, SourceRuns[R]], runs: Iterable[R]) -> dict[str, SourceRuns[R]]:
    """The ingests of each source, from those of the newest runs and the next older ones, the
    newest first.
    """
    found = dict(known)
    for run in runs:
        if run.kind == "ingest":
            for look in looks(run.summary):
                before = found.get(look.source) or SourceRuns(look.source, run, look)
                found[look.source] = _with_one(before, run, look)
    return found


def _with_one(before: SourceRuns[R], run: R, look: Look) -> SourceRuns[R]:
    whole = look.whole and ending(run.summary) in ("done", "failures")
    clean = whole and not look.failed and not (run.summary or {}).get("spared")
    return SourceRuns(
        before.source,
        before.last,
        before.look,
        before.whole or (run if whole else None),
        before.clean or (run if clean else None),
    )


def remedy(look: Look | None, failing: int) -> str | None:
    """What to do about a source, by the last look at it and how many of its documents fail now."""
    if look is None:
        return "no ingest of it is known that came to its end: ingest it again, whole"
    if not look.listed:
        return "it could not be listed to its end: `chunkprep failures` says why"
    if not look.documents:
        return "nothing was found there: see whether it is there, and what the patterns leave out"
    if look.documents == look.failed and failing:
        return "no document could be read: `chunkprep failures` says why"
    told = ["`chunkprep failures` says what failed, and what to do"] if failing else []
    if look.left_out:
        told.append(
            f"documents that the collection has from there {'may be' if failing else 'were'} left "
            "out: ingest it without the patterns and files that narrow it, or withdraw them"
        )
    elif look.gone and not failing:
        are, them = ("is", "it") if look.gone == 1 else ("are", "them")
        told.append(
            f"{look.gone} of its documents {are} gone: `chunkprep ingest --sync` withdraws {them}"
        )
    return "; else ".join(told) or None


def oldest(runs: Iterable[R | None]) -> R | None:
    """Of the last runs of several sources the one that ended first; None where one has none."""
    found = list(runs)
    dated = [run for run in found if run is not None and run.finished_at is not None]
    if not found or len(dated) < len(found):
        return None
    return min(dated, key=lambda run: run.finished_at or 0)


def overdue(sources: Iterable[SourceRuns[R]], at: Moment, max_age: int) -> list[SourceRuns[R]]:
    """The sources that no ingest looked at whole within `max_age` microseconds before `at`."""
    since = at - max_age
    return [
        source
        for source in sources
        if source.whole is None or (source.whole.finished_at or 0) < since
    ]


def run_remedy(summary: Mapping[str, Any] | None) -> str | None:
    """What to do about an ingest by how it ended, beyond what is said of its sources."""
    match ending(summary):
        case "unfinished":
            return "it is under way, or was killed: then start it again, it goes on where it was"
        case "stopped":
            return "it was stopped: start it again, it goes on where it was"
        case "error":
            return f"it broke off: {(summary or {})['error']}"
    return None


def tallied(
    asked: Iterable[str],
    lost: Iterable[str],
    files: Iterable[tuple[str, str]],
    outcomes: Mapping[str, str],
) -> list[Look]:
    """What a run saw of each source: those that it was `asked` for, those that it `lost`, which it
    could not list to their end, and those of its `files` (source and key of each). `outcomes` are
    what became of each key; what is skipped is no document.
    """
    found: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for source, key in files:
        outcome = outcomes.get(key, "failed")
        found[source] += outcome != "skipped"
        failed[source] += outcome == "failed"
    incomplete = set(lost)
    return [
        Look(source, source not in incomplete, found[source], failed[source])
        for source in sorted({*found, *asked, *incomplete})
    ]
