"""What an ingest run did, document by document and in sum: the shape of `ingest --json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypedDict, overload

from chunkprep_flows.wording import counted
from chunkprep_ingest.boilerplate import left_out_words
from chunkprep_ingest.errors import ReadError

Outcome = Literal[
    "new", "updated", "metadata_only", "unchanged", "withdrawn", "revived", "skipped", "failed"
]


class Failure(TypedDict):
    """Why a document could not be ingested, and what to do."""

    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What happened to one document.

    `chunks` are those of its version, `written` those written now and `tokens` the tokens of
    their blocks; in a dry run `tokens` are those that an index would have to embed again.
    """

    document: str
    version: int | None
    outcome: Outcome
    chunks: int = 0
    coverage: float | None = None
    warnings: tuple[str, ...] = ()
    error: Failure | None = None
    written: int = 0
    tokens: int = 0


class Outcomes(Sequence[DocumentOutcome]):
    """The outcomes of a run, in order.

    No tuple: Prefect looks for futures in what a flow returns, field by field of all documents.
    """

    __slots__ = ("_all",)

    def __init__(self, outcomes: Iterable[DocumentOutcome] = ()) -> None:
        self._all = tuple(outcomes)

    @overload
    def __getitem__(self, index: int) -> DocumentOutcome: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[DocumentOutcome, ...]: ...

    def __getitem__(self, index: int | slice) -> DocumentOutcome | tuple[DocumentOutcome, ...]:
        """One of them, or some."""
        return self._all[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        """Whether another sequence holds the same."""
        return isinstance(other, Sequence) and self._all == tuple(other)

    def __hash__(self) -> int:
        """Of the same outcomes the same."""
        return hash(self._all)

    def __repr__(self) -> str:
        """How many there are: a log need not hold them all."""
        return f"<{counted(len(self), 'outcome')}>"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """A whole run; `seconds` is wall clock. `stopped` says that it was interrupted with `left`
    documents unread, `spared` how many documents are gone and were not withdrawn, `warnings` why.
    `boilerplate_words` were left out of the documents read; `flow_run_id` is Prefect's.
    """

    run_id: str
    collection: str
    seen: int
    new: int
    updated: int
    metadata_only: int
    unchanged: int
    withdrawn: int
    skipped: int
    failed: int
    revived: int
    chunks_written: int
    tokens_written: int
    seconds: float
    stopped: bool
    dry_run: bool
    warnings: tuple[str, ...]
    documents: Outcomes
    spared: int = 0
    left: int = 0
    boilerplate_words: int = 0
    flow_run_id: str | None = None

    @property
    def headline(self) -> str:
        """The counts in words, those that are nought left out."""
        names = (
            "new", "updated", "metadata_only", "revived", "unchanged", "withdrawn", "skipped",
            "failed",
        )  # fmt: skip
        parts = [(getattr(self, name), name.replace("_", " ")) for name in names]
        said = ", ".join(f"{count} {name}" for count, name in parts if count)
        return f"{counted(self.seen, 'document')}: {said}" if said else self._nothing

    @property
    def _nothing(self) -> str:
        return "no document was read" if self.stopped else "no documents found"

    @property
    def how_stopped(self) -> str:
        """Of a run that was stopped: how far it came, in words."""
        return f"stopped with {counted(self.left, 'document')} unread" if self.left else "stopped"

    @property
    def trouble(self) -> bool:
        """Whether the run found something that somebody has to look at (exit 1)."""
        return bool(self.failed or self.stopped or self.spared)


def failure(error: ReadError) -> Failure:
    """The error as data."""
    return {"code": error.code, "message": error.detail, "remedy": error.remedy}


def sources_failed(report: IngestReport, listed: Set[str]) -> list[str]:
    """Lines for what failed and is not `listed` among the failures: no document, but a source, as
    a slip in a name is.
    """
    return [
        f"{o.document}: {o.error['code']}: {o.error['message'].removeprefix(f'{o.document}: ')}"
        for o in report.documents
        if o.error is not None and o.document not in listed
    ]


def failed(document: str, error: ReadError, *, warnings: tuple[str, ...] = ()) -> DocumentOutcome:
    """The outcome of a document that could not be read."""
    return DocumentOutcome(document, None, "failed", warnings=warnings, error=failure(error))


def summed(
    outcomes: Iterable[DocumentOutcome],
    *,
    run_id: str,
    collection: str,
    seconds: float,
    stopped: bool = False,
    dry_run: bool = False,
    warnings: tuple[str, ...] = (),
    spared: int = 0,
    left: int = 0,
    flow_run_id: str | None = None,
) -> IngestReport:
    """The report of a run: outcomes ordered by document, and counted."""
    documents = Outcomes(sorted(outcomes, key=lambda o: (o.document, o.outcome)))
    counts = Counter(o.outcome for o in documents)
    return IngestReport(
        run_id=run_id,
        collection=collection,
        seen=len(documents) - counts["withdrawn"],
        new=counts["new"],
        updated=counts["updated"],
        metadata_only=counts["metadata_only"],
        unchanged=counts["unchanged"],
        withdrawn=counts["withdrawn"],
        skipped=counts["skipped"],
        failed=counts["failed"],
        revived=counts["revived"],
        chunks_written=sum(o.written for o in documents),
        tokens_written=sum(o.tokens for o in documents),
        seconds=round(seconds, 3),
        stopped=stopped,
        dry_run=dry_run,
        warnings=warnings,
        documents=documents,
        spared=spared,
        left=left,
        boilerplate_words=sum(left_out_words(o.warnings) for o in documents),
        flow_run_id=flow_run_id,
    )
