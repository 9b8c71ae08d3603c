"""The audit's report: counted, ordered, bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkprep_flows.audit_page import audit_page
from chunkprep_flows.audit_report import SEVERITIES, collect, summary
from chunkprep_flows.audit_settings import AuditSettings, Level
from chunkprep_store import Finding

findings = st.builds(
    Finding,
    check=st.sampled_from(["cap", "expired", "wholeness"]),
    severity=st.sampled_from(SEVERITIES),
    document=st.sampled_from([None, "a.md", "<b>|&.md"]),
    version=st.sampled_from([None, 1]),
    chunk_id=st.none(),
    message=st.just("a | b <i>"),
    remedy=st.just("do | that"),
)


@given(st.lists(findings), st.integers(1, 5))
def test_every_finding_is_counted_and_the_worst_are_kept(found: list[Finding], most: int) -> None:
    report = collect(iter(found), collection="c", at=0, most=most)
    ranked = sorted(found, key=lambda f: SEVERITIES.index(f.severity))
    assert list(report.findings) == ranked[:most]
    assert report.left_out + len(report.findings) == len(found)
    assert sum(report.counts.values()) == len(found)
    worst = ranked[0].severity if ranked else None
    fails: dict[Level, bool] = {
        "never": False,
        "error": worst == "error",
        "warning": worst in ("error", "warning"),
        "info": worst is not None,
    }
    assert {level: report.fails(level) for level in fails} == fails


@given(st.lists(findings))
def test_no_text_escapes_into_markup(found: list[Finding]) -> None:
    report = collect(found, collection="<c>", at=0)
    assert "<b>" not in audit_page(report)
    assert "<i>" not in audit_page(report)
    rows = [line for line in summary(report).splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)


def test_settings_refuse_nonsense_and_leave_no_relative_path() -> None:
    with pytest.raises(ValueError, match="recount"):
        AuditSettings(recount=0)
    moved = AuditSettings(sources=("docs",), index_ids="ids.txt").absolute()  # type: ignore[arg-type]
    assert moved.store.startswith("sqlite:////")
    assert moved.sources[0].startswith("/")
    assert moved.index_ids is not None
    assert moved.index_ids.is_absolute()
