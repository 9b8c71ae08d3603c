"""What an audit found: counted, ordered by severity, as rows, as Markdown, as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chunkprep_flows.audit_settings import Level
from chunkprep_flows.wording import counted
from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_store import Finding

SEVERITIES = ("error", "warning", "info")
"""Worst first."""

COLUMNS = ("severity", "check", "document", "version", "chunk_id", "message", "remedy")


class AuditFailedError(ChunkprepError):
    """The audit found what it was told to fail on."""

    code = "audit_failed"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Worst findings first, in the order in which the audit gave them; `left_out` are those of
    which only the counts are kept.
    """

    collection: str
    at: Moment
    findings: tuple[Finding, ...]
    checks: tuple[tuple[str, str, int], ...]
    """Severity, check and number of findings; worst first."""
    left_out: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Findings of each severity."""
        return {level: sum(n for s, _, n in self.checks if s == level) for level in SEVERITIES}

    @property
    def headline(self) -> str:
        """The counts in words."""
        counts = self.counts
        nouns = (("error", "error"), ("warning", "warning"), ("info", "note"))
        return ", ".join(counted(counts[level], noun) for level, noun in nouns)

    def fails(self, fail_on: Level) -> bool:
        """Whether anything of that severity or worse was found."""
        if fail_on == "never":
            return False
        serious = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        return any(self.counts[level] for level in serious)


def collect(
    found: Iterable[Finding], *, collection: str, at: Moment, most: int | None = None
) -> AuditReport:
    """The report of an audit. With `most` at most so many findings of a severity are kept, so that
    a badly damaged store does not fill memory.
    """
    kept: dict[str, list[Finding]] = {level: [] for level in SEVERITIES}
    counts: Counter[tuple[str, str]] = Counter()
    for each in found:
        counts[each.severity, each.check] += 1
        if most is None or len(kept[each.severity]) < most:
            kept[each.severity].append(each)
    findings = tuple(f for level in SEVERITIES for f in kept[level])[:most]
    ordered = sorted(counts.items(), key=lambda item: (SEVERITIES.index(item[0][0]), item[0][1]))
    return AuditReport(
        collection=collection,
        at=at,
        findings=findings,
        checks=tuple((severity, check, number) for (severity, check), number in ordered),
        left_out=counts.total() - len(findings),
    )


def finding_rows(report: AuditReport) -> list[dict[str, Any]]:
    """The findings as rows of a table artifact."""
    return [finding._asdict() for finding in report.findings]


def summary(report: AuditReport) -> str:
    """The report in Markdown: the counts by check, and what to do."""
    lines = [
        f"# Audit of collection `{report.collection}`",
        "",
        f"As of {iso(report.at)}: {report.headline}.",
    ]
    if report.checks:
        lines += ["", "| severity | check | findings | what to do |", "|---|---|---:|---|"]
    remedies: dict[tuple[str, str], str] = {}
    for found in report.findings:
        remedies.setdefault((found.severity, found.check), found.remedy)
    for severity, check, number in report.checks:
        remedy = remedies.get((severity, check), "").replace("|", "\\|")
        lines.append(f"| {severity} | {check} | {number} | {remedy} |")
    if report.left_out:
        lines += ["", f"{report.left_out} findings are counted here and not in the table."]
    return "\n".join([*lines, ""])
