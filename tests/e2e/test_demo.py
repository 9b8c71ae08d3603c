"""`chunkprep demo`, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.conftest import Process

pytestmark = pytest.mark.prefect


def test_the_demo_runs_the_main_job_and_may_be_run_again(
    prefect_api: str, process: Process, tmp_path: Path
) -> None:
    env = {"PREFECT_API_URL": prefect_api}
    for _ in range(2):
        done = process("demo", env=env)
        assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "[Source: Refund policy 2026" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["superseded", "policies/refund-2019.md", "v1", "#0"] in [row[4:] for row in rows]
    assert ["superseded", "policies/refund-2026.md", "v1", "#0"] in [row[4:] for row in rows]
    assert ["forwarded", "policies/refund-2026.md", "v2", "#0"] in [row[4:] for row in rows]
    assert "versions [2] in the pack; its own " in text
    assert "'within 21 days of booking': yes, 'within 14 days of booking': no" in text
    assert "below_min_score: a score below 0.15" in text
    assert "audit: 0 errors" in text
    assert "Prefect's time:" in text
    assert (tmp_path / "demo" / "chunkprep.db").exists()


def test_the_demo_touches_no_folder_that_it_did_not_make(process: Process, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("keep me")
    done = process("demo")
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert (tmp_path / "demo" / "mine.txt").read_text() == "keep me"
