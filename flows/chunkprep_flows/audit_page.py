"""The audit as one HTML page that needs nothing else."""

from __future__ import annotations

from chunkprep_flows.audit_report import COLUMNS, AuditReport
from chunkprep_flows.report_sections import Section
from chunkprep_flows.table_page import page
from chunkprep_ingest.lifecycle import iso


def audit_page(report: AuditReport) -> str:
    """The whole page: the counts, and every finding; each text in it is escaped."""
    counts = Section(
        "By check",
        "How many findings each check has" if report.checks else "No check found anything.",
        ("severity", "check", "findings"),
        report.checks,
    )
    findings = Section(
        "Findings",
        "What was found, errors first, and what to do",
        COLUMNS,
        tuple(tuple(getattr(f, column) for column in COLUMNS) for f in report.findings),
    )
    return page(
        f"chunkprep audit: {report.collection}",
        f"As of {iso(report.at)}: {report.headline}",
        [counts, findings] if report.findings else [counts],
    )
