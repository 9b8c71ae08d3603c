"""One batch of documents: read, split and price, write. What every runner calls.

Each document is one transaction, and fails alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chunkprep_flows.attempts import attempt_key
from chunkprep_flows.gathering import fingerprints_for
from chunkprep_flows.ingest_report import DocumentOutcome, failed
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
    """Ingest the documents one by one; those not begun when a stop is asked for are left out.

    Opens the store unless the caller's own is given.
    """
    if store is None:
        with Store.open(order.store, create=False) as opened:
            return run_batch(order, batch, stop_asked, opened)
    bench = Bench(order, store)
    return [bench.ingest(work) for work in batch if not stop_asked()]


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

    def ingest(self, work: Work) -> DocumentOutcome:
        """Read, prepare and write one document, or record why not."""
        data_hash = None
        try:
            data = regular_bytes(work.path)
            data_hash = bytes_hash(data)
            prepared = self.prepare(work, data, data_hash)
            if self.order.dry_run:
                return foreseen(prepared, self.store, self.order.collection)
            return self.write(prepared)
        except ReadError as error:
            return self.fail(work, error, data_hash)
        except RejectedError as error:
            return self.fail(work, ReadError("rejected", f"{work.document}: {error}"), data_hash)
        except MemoryError:
            told = ReadError("out_of_memory", f"{work.document}: reading took too much memory")
            return self.fail(work, told, data_hash)

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

    def write(self, prepared: PreparedVersion) -> DocumentOutcome:
        """Store the version; coverage below the threshold becomes a warning."""
        order = self.order
        done = self.store.write_version(order.collection, prepared, now=now(), run_id=order.run_id)
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


def kept_out(prepared: PreparedVersion, done: WriteOutcome) -> tuple[str, ...]:
    """A note where a decision by hand keeps the document out of force, whatever its file says."""
    asked = Metadata.model_validate_json(prepared.metadata_json).status
    if done.outcome not in ("updated", "metadata_only") or done.status == asked:
        return ()
    if done.status == "withdrawn":
        return (f"stays withdrawn until `chunkprep restore {done.document}`",)
    if done.status == "draft":
        return (f"stays a draft until `chunkprep set {done.document} status=active`",)
    return ()


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
