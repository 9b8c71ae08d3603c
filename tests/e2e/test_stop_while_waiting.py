"""A run that is stopped while it waits for somebody else ends at once, and says what it waited for.

A reader looks whether it is to stop between two documents; a wait has no documents.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.e2e.conftest import Cli
from tests.support.outage import Outage
from tests.support.stopping import Running, Stopped

from chunkprep_store import Store

pytestmark = pytest.mark.prefect

SOON = 25.0
"""Seconds, on a machine that does other things too; what is waited for takes longer or for ever."""
WAITING = "trying again in"


def after(happened: Callable[[], object], seconds: float) -> Callable[[], bool]:
    """Whether it happened so long ago."""
    since: list[float] = []

    def ready() -> bool:
        if not since and happened():
            since.append(time.monotonic())
        return bool(since) and time.monotonic() - since[0] >= seconds

    return ready


def documents(cli: Cli, count: int = 3) -> None:
    (cli.folder / "docs").mkdir()
    for n in range(count):
        (cli.folder / "docs" / f"{n}.md").write_text(f"# D{n}\n\nText.\n")


def check_waiting(stopped: Stopped) -> None:
    stopped.check()
    assert stopped.seconds < SOON
    assert "stopped while" in stopped.err


@contextmanager
def silent_server() -> Iterator[str]:
    """Accepts whoever comes, and says nothing: a source that lists for a long time."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("group", [True, False])
def test_while_the_private_server_starts(
    cli: Cli, group: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    documents(cli)
    running = Running(cli.folder, "ingest", "docs")
    stopped = running.stop_once(after(lambda: "private one" in running.said, 1), group=group)
    check_waiting(stopped)
    assert "a private Prefect server was started" in stopped.err
    assert not (cli.folder / "chunkprep.db").exists()


@pytest.mark.parametrize("group", [True, False])
def test_while_a_cluster_starts(prefect_api: str, cli: Cli, group: bool) -> None:
    documents(cli)
    env = {"PREFECT_API_URL": prefect_api}
    running = Running(cli.folder, "ingest", "docs", "--runner", "dask", "--workers", "2", env=env)
    stopped = running.stop_once(lambda: "spawn_main" in str(running.living()), group=group)
    stopped.check()
    assert "stopped with 3 documents unread" in stopped.err
    assert record(cli)["stopped"]
    assert cli.ingest("docs")["new"] == 3


def test_while_a_scheduler_does_not_answer(prefect_api: str, cli: Cli) -> None:
    documents(cli)
    with silent_server() as url:
        address = url.replace("http", "tcp")
        running = Running(
            cli.folder, "ingest", "docs", "--runner", "dask", "--dask-address", address,
            env={"PREFECT_API_URL": prefect_api},
        )  # fmt: skip
        stopped = running.stop_once(after(lambda: written_record(cli), 2))
    check_waiting(stopped)
    assert "the Dask cluster was waited for" in stopped.err
    assert record(cli)["left"] == 3


def test_while_a_remote_source_is_listed(prefect_api: str, cli: Cli) -> None:
    with silent_server() as url:
        env = {
            "PREFECT_API_URL": prefect_api, "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip
        mirror = ["--mirror", str(cli.folder / "m")]
        running = Running(cli.folder, "ingest", "s3://large", *mirror, env=env)
        stopped = running.stop_once(after(lambda: written_record(cli), 2))
        check_waiting(stopped)
        assert "the sources were listed" in stopped.err
        assert record(cli)["stopped"]
        without = ["ingest", f"{url}/a.md", *mirror, "--direct"]
        direct = Running(cli.folder, *without, env=env)
        check_waiting(direct.stop_once(after(lambda: written_record(cli, 2), 2), group=True))
        assert record(cli)["stopped"]
        audit = Running(cli.folder, "audit", "--sources", "s3://large", *mirror, env=env)
        check_waiting(audit.stop_once(after(audit.living, 6)))


@pytest.mark.postgres
def test_while_a_step_waits_for_the_database(
    prefect_api: str, cli: Cli, postgres_url: str, postgres_server: str
) -> None:
    documents(cli)
    outage = Outage(postgres_server, postgres_url)
    env = {"PREFECT_API_URL": prefect_api}
    command = ["ingest", "docs", "--store", postgres_url]
    outage.begin()
    running = Running(cli.folder, *command, env=env)
    stopped = running.stop_once(after(lambda: WAITING in running.said, 0.5))
    outage.end()
    check_waiting(stopped)
    assert "start-run waited" in stopped.err
    assert cli.ingest("docs", "--store", postgres_url)["new"] == 3


@pytest.mark.postgres
@pytest.mark.parametrize("runner", ["thread", "process", "dask"])
def test_while_a_batch_waits_for_the_database(
    prefect_api: str, cli: Cli, postgres_url: str, postgres_server: str, runner: str
) -> None:
    documents(cli, 400)
    cli.ingest("docs/0.md", "--store", postgres_url)
    outage = Outage(postgres_server, postgres_url)
    options = ["--runner", runner, "--workers", "2"]
    running = Running(
        cli.folder, "ingest", "docs", "--store", postgres_url, *options,
        env={"PREFECT_API_URL": prefect_api},
    )  # fmt: skip

    def broken_and_waiting() -> bool:
        if WAITING not in running.said and written(postgres_url) > 1:
            outage.begin()
        return WAITING in running.said

    stopped = running.stop_once(after(broken_and_waiting, 0.5))
    outage.end()
    stopped.check()
    assert stopped.seconds < SOON
    assert "the run's record was left unfinished" in stopped.err
    again = cli.ingest("docs", "--store", postgres_url)
    assert again["unchanged"] + again["new"] == 400


def written(url: str) -> int:
    try:
        with Store.open(url, create=False) as store:
            return sum(1 for _ in store.documents("default"))
    except Exception:  # it is away
        return 0


def written_record(cli: Cli, count: int = 1) -> bool:
    """Whether so many runs are recorded."""
    if not (cli.folder / "chunkprep.db").exists():
        return False
    try:
        with Store.open(cli.url, create=False) as store:
            return len(store.runs("default")) >= count
    except Exception:  # it is being made
        return False


def record(cli: Cli) -> dict[str, object]:
    """How the last run ended, as the store has it."""
    with Store.open(cli.url, create=False) as store:
        run = store.runs("default")[0]
    assert run.finished_at is not None
    assert run.summary is not None
    return run.summary


def test_while_another_run_of_the_collection_is_waited_for(prefect_api: str, cli: Cli) -> None:
    from chunkprep_flows.collection_limit import one_at_a_time

    documents(cli)
    with one_at_a_time(cli.url, "default"):
        running = Running(cli.folder, "ingest", "docs", env={"PREFECT_API_URL": prefect_api})
        told = "waiting for another run of collection default to end\n"
        stopped = running.stop_once(after(lambda: told in running.said, 7))
    check_waiting(stopped)
    assert "another run of the collection was waited for" in stopped.err
    assert not (cli.folder / "chunkprep.db").exists()
    assert stopped.err.count(told) == 1
    assert "ERROR" not in stopped.err
    assert stopped.err.count("\n") < 5, stopped.err
