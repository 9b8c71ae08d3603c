"""The report as titled sections of tables, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkprep_flows.report import Report
from chunkprep_ingest.lifecycle import iso
from chunkprep_packer import LogFigures, Signature
from chunkprep_packer.block_sizes import BlockSizes

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a title.

    `lead` says what the table shows, or, where there are no rows, that there is nothing to show.
    """

    title: str
    lead: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()


def sections(report: Report) -> list[Section]:
    """Every section, in the order in which they are shown."""
    return [
        _sizes(report.sizes),
        _size_figures(report),
        _largest(report),
        _fill(report.packs),
        _counts("Candidates", "What became of the candidates offered", report.packs.outcomes),
        _counts("Skips by reason", "Why candidates were skipped", report.packs.skipped),
        _truncations(report.packs),
        _counts("Fate of rank 1", "The best-ranked candidate that survived the filters",
                report.packs.rank1),
        _counts("Warnings", "Packs that warned their caller", report.packs.warnings),
        _signatures(report.packs.signatures),
        _stale(report),
        _failures(report),
        _runs(report),
    ]  # fmt: skip


def _sizes(sizes: BlockSizes) -> Section:
    title = "Sizes against the cap"
    if not sizes.chunks:
        return Section(title, "No chunk is in force.")
    if not sizes.histogram:
        return Section(title, "The policy that the chunks were made with is not known.")
    cap = f" of {sizes.cap} tokens" if sizes.cap else ""
    rows = _steps(sizes.histogram, "over the cap")
    return Section(
        title, f"Blocks in force by their share of the cap{cap}", ("share of cap", "blocks"), rows
    )  # fmt: skip


def _steps(histogram: Sequence[int], over: str) -> tuple[tuple[Cell, ...], ...]:
    """A row for each tenth; the one for what is over it only where there is something."""
    last = len(histogram) - 1
    rows = [(f"{k * 100 // last} to {(k + 1) * 100 // last} %", histogram[k]) for k in range(last)]
    return (*rows, *([(over, histogram[last])] if histogram[last] else []))


def _size_figures(report: Report) -> Section:
    sizes, documents = report.sizes, report.documents
    rows: tuple[tuple[Cell, ...], ...] = (
        ("documents in force", documents.in_force),
        ("documents known", documents.known),
        ("blocks in force", sizes.chunks),
        ("their tokens", sizes.tokens),
        ("cap", sizes.cap),
        ("mean block", sizes.mean),
        ("smallest block", sizes.smallest),
        ("a tenth are at most", sizes.tenth),
        ("half are at most", sizes.median),
        ("nine tenths are at most", sizes.ninetieth),
        ("largest block", sizes.largest),
    )
    return Section("Sizes in figures", "Tokens of whole blocks", ("figure", "value"), rows)


def _largest(report: Report) -> Section:
    rows = tuple(
        (b.document, b.title, b.version, b.ordinal, b.block_tokens) for b in report.largest
    )
    lead = "Outliers would stand here" if rows else "No chunk is in force."
    columns = ("document", "title", "version", "ordinal", "tokens")
    return Section("Largest blocks", lead, columns, rows)


def _fill(packs: LogFigures) -> Section:
    title = "Fill"
    unread = f"; {packs.unreadable} more cannot be read" if packs.unreadable else ""
    if not packs.packs:
        return Section(title, f"No pack is logged{unread}.")
    lead = (
        f"{packs.packs} packs from {iso(packs.first)} to {iso(packs.last)} filled "
        f"{packs.mean_fill:.1%} of their slot in the mean: {packs.mean_used:g} of "
        f"{packs.mean_slot:g} tokens{unread}"
    )
    rows = _steps(packs.fill, "over the slot")
    return Section(title, lead, ("share of slot", "packs"), rows)


def _counts(title: str, lead: str, counts: Mapping[str, int]) -> Section:
    if not counts:
        return Section(title, "None.")
    return Section(title, lead, ("what", "count"), tuple(counts.items()))


def _truncations(packs: LogFigures) -> Section:
    if not packs.cuts:
        return Section("Truncations", "No block was cut.")
    lead = (
        f"{packs.truncated_packs} of {packs.packs} packs cut a block; {packs.omitted_chars} "
        f"characters were left out. Cuts by the kind of boundary"
    )
    return Section("Truncations", lead, ("boundary", "cuts"), tuple(packs.cuts.items()))


def _signatures(found: Sequence[Signature]) -> Section:
    if not found:
        return Section("Failure signatures", "None, or too few packs to tell.")
    rows = tuple(
        (
            one.code,
            one.share,
            one.packs,
            one.message,
            ", ".join(f"{name} {value:g}" for name, value in one.figures.items()),
            one.advice,
        )
        for one in found
    )
    columns = ("signature", "share", "packs", "what the log shows", "figures", "what to do")
    return Section("Failure signatures", "Patterns in the log, most frequent first", columns, rows)


def _stale(report: Report) -> Section:
    if not report.stale:
        return Section("Stale documents", "None.")
    rows = tuple(
        (f.severity, f.check, f.document, f.version, f.message, f.remedy) for f in report.stale
    )
    columns = ("severity", "check", "document", "version", "message", "remedy")
    return Section("Stale documents", "What the audit says of their age and source", columns, rows)


def _failures(report: Report) -> Section:
    if not report.failures:
        return Section("Failures", "None.")
    rows = tuple(
        (f.document, f.code, f.attempts, iso(f.last_at), f.message, f.remedy)
        for f in report.failures
    )
    columns = ("document", "code", "attempts", "last attempt", "message", "remedy")
    return Section("Failures", "Documents whose last ingest failed", columns, rows)


def _runs(report: Report) -> Section:
    if not report.runs:
        return Section("Runs", "None.")
    rows = tuple(
        (run.run_id, run.kind, iso(run.started_at), iso(run.finished_at), _ended(run.summary),
         run.flow_run_id)
        for run in report.runs
    )  # fmt: skip
    columns = ("run", "kind", "started", "finished", "failed", "Prefect's flow run")
    return Section("Runs", "The latest runs, the newest first", columns, rows)


def _ended(summary: Mapping[str, object] | None) -> str:
    """How many documents failed, and whether the run was stopped; nothing for other runs."""
    if summary is None:
        return "not finished"
    if summary.get("error"):
        return str(summary["error"])
    failed = summary.get("failed")
    said = [str(failed)] if isinstance(failed, int) else []
    return ", ".join([*said, *(["stopped"] if summary.get("stopped") else [])])
