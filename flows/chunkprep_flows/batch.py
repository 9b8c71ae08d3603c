"""One batch of documents: read, split and price, write. What every runner calls.

Each document is written whole or not at all, and fails alone. Documents that are new are written
several in one transaction; where that fails, one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkprep_flows.attempts import attempt_key
from chunkprep_flows.gathering import fingerprints_for
from chunkprep_flows.ingest_report import DocumentOutcome, failed
from chunkprep_flows.kept_stores import STORES
from chunkprep_flows.opened import now
from chunkprep_flows.plan import Work
from chunkprep_flows.reading import READERS, Reading
from chunkprep_flows.recipe import Recipe
from chunkprep_flows.source_metadata import SourceMetadata, likely_slips
from chunkprep_ingest.errors import NotFoundError, ReadError, RejectedError
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.regular_file import regular_bytes
from chunkprep_store import Store, WriteOutcome

TOGETHER = 32
TOGETHER_CHARACTERS = 1_000_000
TOGETHER_SECONDS = 2.0
"""So many new documents are written in one transaction, so much text of them, or what is ready
after so long, whichever comes first."""


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """What a batch needs besides its documents; it travels to other threads and processes."""

    store: str
    collection: str
    run_id: str
    recipe: Recipe
    reading: Reading
    metadata: str | None
    dry_run: bool


def run_batch(
    order: BatchOrder,
    batch: Sequence[Work],
    stop_asked: Callable[[], bool],
    store: Store | None = None,
) -> list[DocumentOutcome]:
    """Ingest the documents; those not begun when a stop is asked for are left out.

    Borrows the store unless the caller's own is given.
    """
    if store is None:
        with STORES.borrow(order.store) as kept:
            return run_batch(order, batch, stop_asked, kept)
    return list(Bench(order, store).ingest(batch, stop_asked))


class Ready(NamedTuple):
    """A document that is read and prepared, and waits to be written; `since` is the monotonic
    clock's seconds.
    """

    work: Work
    prepared: PreparedVersion
    since: float


class Bench:
    """One worker's tools: made once per batch, from the order."""

    def __init__(self, order: BatchOrder, store: Store) -> None:
        self.order = order
        self.store = store
        self.profile = order.recipe.profile()
        self.counter = order.recipe.counter()
        self.metadata = SourceMetadata(order.metadata, order.reading.options.fallback_encoding)
        self.fingerprints = fingerprints_for(
            order.recipe.policy.fingerprint, self.profile.fingerprint, order.reading.options
        )

    def ingest(
        self, batch: Iterable[Work], stop_asked: Callable[[], bool]
    ) -> Iterator[DocumentOutcome]:
        """Read, prepare and write the documents, or record why not. What is begun is finished."""
        ready: list[Ready] = []
        for work in batch:
            if stop_asked():
                break
            made = self.make(work)
            if isinstance(made, DocumentOutcome):
                yield made
                continue
            ready.append(made)
            if is_enough(ready):
                yield from self.write(ready)
                ready = []
        yield from self.write(ready)

    def make(self, work: Work) -> Ready | DocumentOutcome:
        """A document ready to be written; its outcome where it failed, or the run is a dry one."""
        data_hash = None
        try:
            data = regular_bytes(work.path)
            data_hash = bytes_hash(data)
            prepared = self.prepare(work, data, data_hash)
        except ReadError as error:
            return self.fail(work, error, data_hash)
        except MemoryError:
            return self.fail(work, _no_memory(work), data_hash)
        if self.order.dry_run:
            return foreseen(prepared, self.store, self.order.collection)
        return Ready(work, prepared, time.monotonic())

    def prepare(self, work: Work, data: bytes, data_hash: str) -> PreparedVersion:
        """Everything that the store writes. Raises ReadError."""
        reading = self.order.reading
        with READERS.borrow(reading.limits) as reader:
            parsed = reader.read(data, work.document, reading.options)
        return prepare_version(
            parsed,
            document=work.document,
            uri=work.uri,
            data_hash=data_hash,
            metadata=self.metadata.of(work, parsed.metadata),
            warnings=likely_slips(parsed.metadata),
            policy=self.order.recipe.policy,
            profile=self.profile,
            counter=self.counter,
        )

    def write(self, ready: Sequence[Ready]) -> Iterator[DocumentOutcome]:
        """Store the versions: new documents in one transaction, the others in one each."""
        order = self.order
        written: dict[str, WriteOutcome] = {}
        if len(ready) > 1:
            try:
                prepared = [each.prepared for each in ready]
                told = self.store.write_new(
                    order.collection, prepared, now=now(), run_id=order.run_id
                )
                written = {done.document: done for done in told}
            except (ReadError, RejectedError, MemoryError):
                pass  # none is written; the one that cannot be fails alone below
        for each in ready:
            done = written.pop(each.work.document, None)
            yield self.write_alone(each) if done is None else outcome_of(each.prepared, done)

    def write_alone(self, ready: Ready) -> DocumentOutcome:
        """Store one version in a transaction of its own, or record why not."""
        order, work, prepared = self.order, ready.work, ready.prepared
        try:
            done = self.store.write_version(
                order.collection, prepared, now=now(), run_id=order.run_id
            )
        except ReadError as error:
            return self.fail(work, error, prepared.bytes_hash)
        except RejectedError as error:
            told = ReadError("rejected", f"{work.document}: {error}")
            return self.fail(work, told, prepared.bytes_hash)
        except MemoryError:
            return self.fail(work, _no_memory(work), prepared.bytes_hash)
        return outcome_of(prepared, done)

    def fail(self, work: Work, error: ReadError, data_hash: str | None) -> DocumentOutcome:
        """Record the failure; the last good version stays in force."""
        if not self.order.dry_run:
            self.store.record_failure(
                self.order.collection,
                work.document,
                uri=work.uri,
                code=error.code,
                message=error.detail,
                remedy=error.remedy,
                now=now(),
                attempt_key=None if data_hash is None else self.attempt(work, data_hash),
                run_id=self.order.run_id,
            )
        return failed(work.document, error)

    def attempt(self, work: Work, data_hash: str) -> str:
        """The key of this attempt: the same one is made a few times only."""
        fingerprints = self.fingerprints(work.document)
        return attempt_key(data_hash, fingerprints, self.metadata.digest(work), self.order.reading)


def is_enough(ready: Sequence[Ready]) -> bool:
    """Whether these documents are to be written now: what is ready and not written is lost where
    the process is killed, and held in memory.
    """
    return (
        len(ready) >= TOGETHER
        or sum(len(each.prepared.parsed.text) for each in ready) >= TOGETHER_CHARACTERS
        or time.monotonic() - ready[0].since >= TOGETHER_SECONDS
    )


def outcome_of(prepared: PreparedVersion, done: WriteOutcome) -> DocumentOutcome:
    """What became of a document; coverage below the threshold is among its warnings."""
    return DocumentOutcome(
        document=done.document,
        version=done.version or None,
        outcome=done.outcome,
        chunks=len(prepared.chunks) if done.chunks == 0 else done.chunks,
        coverage=prepared.parsed.coverage,
        warnings=(*prepared.warnings, *kept_out(prepared, done)),
        written=done.chunks,
        tokens=done.tokens,
    )


def kept_out(prepared: PreparedVersion, done: WriteOutcome) -> tuple[str, ...]:
    """A note where a decision by hand keeps the document out of force, whatever its file says."""
    if done.outcome not in ("updated", "metadata_only"):
        return ()
    if done.status == Metadata.model_validate_json(prepared.metadata_json).status:
        return ()
    if done.status == "withdrawn":
        return (f"stays withdrawn until `chunkprep restore {done.document}`",)
    if done.status == "draft":
        return (f"stays a draft until `chunkprep set {done.document} status=active`",)
    return ()


def _no_memory(work: Work) -> ReadError:
    return ReadError("out_of_memory", f"{work.document}: reading took too much memory")


def foreseen(prepared: PreparedVersion, store: Store, collection: str) -> DocumentOutcome:
    """What writing would do. `tokens` are those of chunks whose content is not stored yet."""
    try:
        there = store.chunks(collection, prepared.document)
    except NotFoundError:
        there = []
    stored = {row.content_hash for row in there}
    fresh = [c for c in prepared.chunks if c.content_hash not in stored]
    known = store.known(collection, [prepared.document]).get(prepared.document)
    same = known is not None and known.content_hash == prepared.content_hash
    same = same and known is not None and known.fingerprints == prepared.fingerprints
    version = known.version if known is not None else None
    return DocumentOutcome(
        document=prepared.document,
        version=version if same else (version or 0) + 1,
        outcome="metadata_only" if same else "updated" if version else "new",
        chunks=len(prepared.chunks),
        coverage=prepared.parsed.coverage,
        warnings=prepared.warnings,
        written=0 if same else len(prepared.chunks),
        tokens=0 if same else sum(c.block_tokens for c in fresh),
    )
