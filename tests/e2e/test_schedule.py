"""`chunkprep schedule`: a deployment that a real Prefect server runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.e2e.conftest import PREFECT_START_SECONDS, Cli

from chunkprep_flows.commands.schedule import audit_of
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.prefect_server import full_server

pytestmark = pytest.mark.prefect

WAIT_SECONDS = 150


def _heed_interrupts() -> None:
    """A shell that runs the suite in the background lets it, and what it starts, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_schedule_ingests_a_file_added_meanwhile_and_is_not_paused_by_stopping(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with full_server(tmp_path_factory.mktemp("prefect"), timeout=PREFECT_START_SECONDS) as api:
        check_schedule(api, cli)


def check_schedule(api: str, cli: Cli) -> None:
    from prefect import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "a.md").write_text("# A\n\nText.\n")
    cli.ingest("docs")
    (cli.folder / "docs" / "b.md").write_text("# B\n\nText.\n")
    command = [sys.executable, "-m", "chunkprep_flows.cli", "schedule", "docs", "--every", "5"]
    command += ["--audit-cron", "* * * * *"]
    env = {**os.environ, "PREFECT_API_URL": api}
    with subprocess.Popen(
        [*command, "--name", "test"],
        cwd=cli.folder,
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    ) as serving:
        deadline = time.monotonic() + WAIT_SECONDS
        while len(cli.lines("docs")) < 2 and time.monotonic() < deadline:
            assert serving.poll() is None
            time.sleep(0.5)
        audit = audit_run(api, deadline)
        serving.send_signal(signal.SIGINT)
        _, talk = serving.communicate(timeout=90)
    assert {d["document"] for d in cli.lines("docs")} == {"a.md", "b.md"}
    assert "ingest-documents/test and audit-versions/test" in talk
    assert audit == "Completed"
    [first, *_] = [
        line for line in talk.splitlines() if line.startswith("ingest-documents/test: 2")
    ]
    assert "2 documents: 1 new, 1 unchanged; next run 20" in first
    assert "audit-versions/test: 0 errors" in talk
    with temporary_settings({PREFECT_API_URL: api}), get_client(sync_client=True) as client:
        for name in ("ingest-documents/test", "audit-versions/test"):
            deployment = client.read_deployment_by_name(name)
            assert not deployment.paused
            assert all(schedule.active for schedule in deployment.schedules)


def audit_run(api: str, deadline: float) -> str | None:
    """The name of the state in which the first scheduled audit ended."""
    from prefect import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName
    from prefect.settings import PREFECT_API_URL, temporary_settings

    wanted = FlowFilter(name=FlowFilterName(any_=["audit-versions"]))
    with temporary_settings({PREFECT_API_URL: api}), get_client(sync_client=True) as client:
        while time.monotonic() < deadline:
            runs = client.read_flow_runs(flow_filter=wanted)
            ended = [run.state for run in runs if run.state and run.state.is_final()]
            if ended:
                return ended[0].name
            time.sleep(0.5)
    return None


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["docs", "--cron", "whenever"], "'whenever' is no cron expression"),
        (["docs", "--cron", "61 * * * *"], "'61 * * * *' is no cron expression"),
        (["docs", "--every", "60", "--audit-cron", "x"], "--audit-cron 'x'"),
        (["docs", "--every", "60", "--audit-cron", "0 5 * * *", "--audit-every", "9"], "either"),
        (["docs", "--every", "0"], "--every"),
        (["docs", "--every", "60", "--name", "a/b"], "--name 'a/b' is no deployment's name"),
        (["docs", "--every", "60", "--name", ""], "--name '' is no deployment's name"),
        (["docs", "--every", "60", "--audit-fail-on", "warning"], "--audit-cron or --audit-every"),
        (["docs", "--every", "soon"], "'soon'"),
        (["docs", "nosuch", "--every", "60"], "'nosuch'"),
        (["nosuch/*.md", "--every", "60"], "'nosuch/*.md'"),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_before_a_server_starts(
    cli: Cli, args: list[str], named: str
) -> None:
    (cli.folder / "docs").mkdir()
    result = cli("schedule", *args, code=2)
    assert named in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_audit_beside_a_schedule_compares_with_the_same_sources() -> None:
    settings = IngestSettings(
        sources=("docs", "s3://bucket/**/*.md"), exclude=("old/**",), mirror="here"
    ).absolute()
    audit = audit_of(settings, "warning")
    assert audit.sources == settings.sources
    assert (audit.exclude, audit.mirror) == (settings.exclude, settings.mirror)
