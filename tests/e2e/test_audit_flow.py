"""The Prefect flow `audit_versions`: what it leaves in Prefect, and when it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from tests.support.ingesting import ingest

from chunkprep_flows.audit_report import AuditFailedError, AuditReport
from chunkprep_flows.audit_settings import AuditSettings, Level
from chunkprep_flows.opened import now
from chunkprep_store import Store
from chunkprep_store.tables import chunks

pytestmark = pytest.mark.prefect

TEXT = "# A\n\nApples are red."


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with a document to review, on both databases."""
    ingest(store, "due.md", TEXT, now=now(), review_by="2020-01-01")
    ingest(store, "good.md", "# B\n\nBananas | and more.", now=now())
    return store


def damage(store: Store) -> None:
    with store.database.write() as connection:
        wrong = chunks.c.block_tokens + 1
        where = chunks.c.document == "good.md"
        connection.execute(sa.update(chunks).where(where).values(block_tokens=wrong))


def settings(store_url: str, fail_on: Level = "error", **more: Any) -> AuditSettings:
    return AuditSettings(store=store_url, fail_on=fail_on, **more)


def run(wanted: AuditSettings) -> tuple[Any, UUID]:
    """The final state of a run of the flow, and the run's id."""
    from chunkprep_flows.audit_versions import audit_versions

    state = audit_versions(wanted, return_state=True)
    run_id = state.state_details.flow_run_id
    assert run_id is not None
    return state, run_id


def artifacts(run_id: UUID) -> dict[str, str]:
    """Data of the artifacts that a run left, by key."""
    from prefect import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    wanted = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run_id]))
    with get_client(sync_client=True) as client:
        return {str(a.key): str(a.data) for a in client.read_artifacts(artifact_filter=wanted)}


def test_a_warning_leaves_artifacts_and_completes(
    prefect_api: str, filled: Store, store_url: str
) -> None:
    from chunkprep_flows.audit_versions import FINDINGS, SUMMARY

    state, run_id = run(settings(store_url))
    assert state.is_completed()
    report = state.result()
    assert isinstance(report, AuditReport)
    assert report.counts == {"error": 0, "warning": 1, "info": 0}
    left = artifacts(run_id)
    [row] = json.loads(left[FINDINGS])
    assert (row["severity"], row["check"], row["document"]) == ("warning", "review_due", "due.md")
    assert row["remedy"]
    assert "| warning | review_due | 1 |" in left[SUMMARY]
    assert "0 errors, 1 warning, 0 notes" in left[SUMMARY]


def test_the_run_fails_from_the_severity_that_it_is_told(
    prefect_api: str, filled: Store, store_url: str
) -> None:
    from chunkprep_flows.audit_versions import FINDINGS

    damage(filled)
    state, run_id = run(settings(store_url))
    assert state.is_failed()
    with pytest.raises(AuditFailedError, match="1 error, 1 warning"):
        state.result()
    checks = [row["check"] for row in json.loads(artifacts(run_id)[FINDINGS])]
    assert checks == ["count_drift", "review_due"]
    assert run(settings(store_url, "never"))[0].is_completed()
    assert run(settings(store_url, "warning", checks=("expired",)))[0].is_completed()
    assert run(settings(store_url, "warning", checks=("review_due",)))[0].is_failed()


def test_a_store_that_is_not_there_fails_the_run(prefect_api: str, tmp_path: Path) -> None:
    state, _ = run(settings(f"sqlite:///{tmp_path / 'none.db'}", "never"))
    assert state.is_failed()
