"""An ingest run: gather what there is, decide what to do, apply it in batches, sum it up.

Plain functions. A runner is given the batches and gives back their outcomes: the direct runner
(direct.py) and the Prefect flow (ingest_documents.py) differ in nothing else.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from chunkprep_flows.batch import BatchOrder
from chunkprep_flows.gathering import all_filtered, fingerprints_for, judge, listing_of, special
from chunkprep_flows.ingest_report import (
    DocumentOutcome,
    IngestReport,
    Outcomes,
    failed,
    sources_failed,
    summed,
)
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.interrupt import StoppedError, stop_asked
from chunkprep_flows.kept_stores import STORES
from chunkprep_flows.looked_at import looked_at
from chunkprep_flows.opened import now
from chunkprep_flows.plan import Judged, Refused, Work, batch_size, batches, same_key_other_place
from chunkprep_flows.reading import READERS, reading_of
from chunkprep_flows.recipe import Recipe, choose_recipe, keep_profile, recipe_change
from chunkprep_flows.steps import Step, at_once
from chunkprep_flows.sync import NOTHING, forget_gone_failures, withdraw_gone
from chunkprep_flows.unfinished import recorded_end
from chunkprep_ingest.collecting import collected_seldom
from chunkprep_ingest.errors import KEY_CLASH, ConflictError, ReadError, UnavailableError
from chunkprep_ingest.freshness import RECORD
from chunkprep_ingest.left_out import same_file
from chunkprep_ingest.listing import Listing, Unreadable
from chunkprep_ingest.remote import is_remote
from chunkprep_ingest.url_secrets import as_recorded
from chunkprep_store import Store

MOST_SOURCES = 20
"""Sources that a run's record names as failed, though no document did."""

RunBatches = Callable[[BatchOrder, Sequence[tuple[Work, ...]]], Iterable[list[DocumentOutcome]]]
"""Runs every batch and yields their outcomes as they come."""


class Progress(Protocol):
    """Hears how a run gets on."""

    def looked(self) -> None:
        """One more file was compared with the store."""
        ...

    def started(self, documents: int) -> None:
        """So many documents are to be read."""
        ...

    def done(self, outcomes: Sequence[DocumentOutcome]) -> None:
        """These documents are finished."""
        ...


class FlowRun(NamedTuple):
    """A flow run of Prefect's: its id, and the address of its page where there is one."""

    id: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Run:
    """One run under way. `started` is the performance counter's seconds, `change` a warning that
    the collection's recipe changes.
    """

    store: Store
    settings: IngestSettings
    recipe: Recipe
    profile: str
    run_id: str
    started: float
    change: str | None = None
    flow_run: FlowRun | None = None


@dataclass(frozen=True, slots=True)
class Prospect:
    """What the gathering found: documents to read, outcomes that need no reading, a warning."""

    listing: Listing
    work: tuple[Work, ...]
    settled: tuple[DocumentOutcome, ...]
    warning: str | None = None


def ingest(
    settings: IngestSettings,
    run_batches: RunBatches,
    progress: Progress,
    listing: Listing | None = None,
    *,
    step: Step = at_once,
    flow_run: FlowRun | None = None,
) -> IngestReport:
    """One run from listing (default: of the settings' sources) to report. With a listing of its own
    it is recorded as a retry, which does not look at all that there is.

    `flow_run` is Prefect's, for the run's record. Raises ChunkprepError where it cannot begin.
    """
    start = time.perf_counter()
    with ExitStack() as stack:
        stack.enter_context(collected_seldom())
        stack.enter_context(closing(READERS))
        stack.enter_context(closing(STORES))
        settings = stack.enter_context(_store_for(settings))
        kind = "ingest" if listing is None else "retry"
        run = step("start-run", lambda: begun(settings, start, flow_run, kind))
        stack.enter_context(closing(run.store))
        if not settings.dry_run:
            stack.enter_context(recorded_end(run.store, run.run_id))
        prospect = prospect_of(run, listing, progress, step)
        read: list[DocumentOutcome] = []
        try:
            read.extend(apply(run, prospect, run_batches, progress))
        except StoppedError as stopped:
            prospect = replace(prospect, warning=str(stopped))
        return step_out(run, prospect, read, step)


def begun(settings: IngestSettings, start: float, flow_run: FlowRun | None, kind: str) -> Run:
    """Open the store, choose policy and profile, and record that a run of this kind began."""
    store = Store.open(settings.store, hurried=stop_asked)
    try:
        recipe = choose_recipe(settings, store)
        change = recipe_change(settings, store, recipe)
        profile = recipe.profile()
        run_id = "dry-run"
        if not settings.dry_run:
            store.put_policy(recipe.policy)
            keep_profile(store, profile)
            store.set_primary(
                settings.collection,
                policy=recipe.policy.fingerprint,
                profile=profile.fingerprint,
                now=now(),
            )
            asked = settings.model_dump(mode="json", exclude={"store"})
            asked["sources"] = [as_recorded(s) if is_remote(s) else s for s in settings.sources]
            run_id = store.start_run(
                settings.collection,
                now=now(),
                kind=kind,
                settings=asked,
                flow_run_id=None if flow_run is None else flow_run.id,
            )
        return Run(store, settings, recipe, profile.fingerprint, run_id, start, change, flow_run)
    except BaseException:
        store.close()
        raise


@contextmanager
def _store_for(settings: IngestSettings) -> Iterator[IngestSettings]:
    """The settings; for a dry run where there is no store yet, with an empty one for the time."""
    file = settings.store.removeprefix("sqlite:///")
    absent = file != settings.store and not Path(file).exists()
    if not (settings.dry_run and absent):
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="chunkprep-") as folder:
        elsewhere = f"sqlite:///{Path(folder) / 'empty.db'}"
        yield settings.model_copy(update={"store": elsewhere})


def gather(run: Run, listing: Listing, progress: Progress) -> Prospect:
    """Tell what has to be read from what stands."""
    fingerprints = fingerprints_for(
        run.recipe.policy.fingerprint, run.profile, reading_of(run.settings).options
    )
    work: list[Work] = []
    moved: list[Judged] = []
    recorded = _recorded_failures(run)
    settled = _refused_paths(run, listing.unreadable)
    for found in judge(listing.files, run.store, run.settings, fingerprints):
        if stop_asked():
            break
        progress.looked()
        if isinstance(found, Refused):
            settled.append(_refused(run, found))
            continue
        if found.moved and found.known and not same_file(found.known.uri or "", found.work.path):
            moved.append(found)
        if found.step == "ingest":
            work.append(found.work)
        else:
            settled.append(_standing(found, recorded))
    return Prospect(listing, tuple(work), tuple(settled), same_key_other_place(moved))


def prospect_of(run: Run, listing: Listing | None, progress: Progress, step: Step) -> Prospect:
    """List the sources, unless that is done, and gather; whoever stops that finds nothing."""
    try:
        listed = listing or listing_of(run.settings, step)
        return step("compare-with-store", lambda: gather(run, listed, progress))
    except StoppedError as stopped:
        return Prospect(Listing((), (), ()), (), (), str(stopped))


def apply(
    run: Run, prospect: Prospect, run_batches: RunBatches, progress: Progress
) -> Iterator[DocumentOutcome]:
    """Hand the work to the runner, batch by batch."""
    settings = run.settings
    order = BatchOrder(
        store=settings.store,
        collection=settings.collection,
        run_id=run.run_id,
        recipe=run.recipe,
        reading=reading_of(settings),
        metadata=settings.metadata,
        dry_run=settings.dry_run,
    )
    work = prospect.work
    documents = batch_size(len(work), workers=settings.workers, most=settings.batch_documents)
    progress.started(len(work))
    parts = batches(work, documents=documents, size=settings.batch_bytes)
    for outcomes in run_batches(order, tuple(parts)):
        progress.done(outcomes)
        yield from outcomes


def step_out(
    run: Run, prospect: Prospect, read: Sequence[DocumentOutcome], step: Step
) -> IngestReport:
    """Withdraw what is gone where that is asked for, and finish; a stopped run only finishes."""
    gone: list[DocumentOutcome] = []
    decided = NOTHING
    listing = prospect.listing
    notes = [run.change, prospect.warning, all_filtered(listing, run.settings), special(listing)]
    if run.settings.sync and not stop_asked():
        try:
            ended = (*prospect.settled, *read)
            decided = step(
                "withdraw-gone",
                lambda: withdraw_gone(run.store, run.settings, listing, ended, gone),
            )
        except StoppedError as stopped:
            notes.append(str(stopped))
    notes += decided.refused, decided.kept
    left = len(listing.files) + len(listing.unreadable) - len(prospect.settled) - len(read)
    report = sum_up(run, [*prospect.settled, *read, *gone], notes, decided.spared, left)
    if run.settings.dry_run:
        return report
    try:
        step("finish-run", lambda: finish(run, report, listing))
    except (StoppedError, UnavailableError, ConflictError):
        if not stop_asked():
            raise
        report = replace(report, stopped=True)
        try:
            finish(run, report, listing)
        except (UnavailableError, ConflictError) as error:
            unfinished = f"the run's record was left unfinished: {error}"
            report = replace(report, warnings=(*report.warnings, unfinished))
    return report


def sum_up(
    run: Run,
    outcomes: Iterable[DocumentOutcome],
    notes: Iterable[str | None],
    spared: int,
    left: int,
) -> IngestReport:
    """The run's report."""
    return summed(
        outcomes,
        run_id=run.run_id,
        flow_run_id=None if run.flow_run is None else run.flow_run.id,
        collection=run.settings.collection,
        seconds=time.perf_counter() - run.started,
        stopped=stop_asked(),
        dry_run=run.settings.dry_run,
        warnings=tuple(note for note in notes if note is not None),
        spared=spared,
        left=left,
    )


def finish(run: Run, report: IngestReport, listing: Listing) -> None:
    """Record how the run ended; forget the failures of what is gone, unless it was stopped."""
    if not report.stopped:
        forget_gone_failures(run.store, run.settings, listing)
    summary = asdict(replace(report, documents=Outcomes()))
    del summary["documents"]
    if not report.stopped:
        summary[RECORD] = looked_at(run.store, run.settings.collection, listing, report.documents)
    if report.failed:
        listed = {failure.document for failure in run.store.failures(run.settings.collection)}
        summary["sources_failed"] = sources_failed(report, listed)[:MOST_SOURCES]
    if run.flow_run is not None:
        summary["flow_run_url"] = run.flow_run.url
    run.store.finish_run(run.run_id, now=now(), summary=summary)


def _recorded_failures(run: Run) -> dict[str, ReadError]:
    if run.settings.collection not in run.store.collections():
        return {}
    failures = run.store.failures(run.settings.collection)
    return {f.document: ReadError(f.code, f.message, f.remedy) for f in failures}


def _standing(found: Judged, recorded: Mapping[str, ReadError]) -> DocumentOutcome:
    """The outcome of a document that is not read this time; `recorded` are earlier failures."""
    work, known = found.work, found.known
    if known is None:
        raise AssertionError("a document that nothing is known of is read")
    if found.step == "erased":
        note = "erased; its tombstone keeps it out"
        return DocumentOutcome(work.document, None, "skipped", warnings=(note,))
    if found.step == "given_up":
        note = f"failed {known.attempts} times and not tried again; --retry tries it"
        return failed(work.document, recorded[work.document], warnings=(note,))
    return DocumentOutcome(work.document, known.version, "unchanged", chunks=known.chunks)


def _refused(run: Run, found: Refused) -> DocumentOutcome:
    """A failure, or a file that was found by the way and is nothing for us."""
    if not found.loud:
        return DocumentOutcome(
            found.document, None, "skipped", warnings=(f"{found.error.code}: {found.error.detail}",)
        )
    return _recorded(run, found.document, found.uri, found.error)


def _refused_paths(run: Run, paths: Sequence[Unreadable]) -> list[DocumentOutcome]:
    """A failure each; those of one document are recorded once."""
    settled: dict[str, list[DocumentOutcome]] = {}
    for path in paths:
        if path.error.code == KEY_CLASH and path.key in settled:
            settled[path.key].append(failed(path.key, path.error))
        else:
            settled.setdefault(path.key, []).append(_refused_path(run, path))
    return [outcome for outcomes in settled.values() for outcome in outcomes]


def _refused_path(run: Run, path: Unreadable) -> DocumentOutcome:
    """A failure; what never was a document and is not there, a slip in a name, leaves no record,
    nor does a remote source as a whole.
    """
    if is_remote(path.key):
        return failed(path.key, path.error)
    there = path.passing or os.path.lexists(path.path)
    if not there and not run.settings.dry_run:
        known = run.store.known(run.settings.collection, [path.key]).get(path.key)
        if known is None or known.version is None:
            run.store.forget_failure(run.settings.collection, path.key)
            return failed(path.key, path.error)
    return _recorded(run, path.key, path.uri, path.error)


def _recorded(run: Run, document: str, uri: str, error: ReadError) -> DocumentOutcome:
    if not run.settings.dry_run:
        run.store.record_failure(
            run.settings.collection,
            document,
            uri=uri,
            code=error.code,
            message=error.detail,
            remedy=error.remedy,
            now=now(),
            run_id=run.run_id,
        )
    return failed(document, error)
