"""Recounting, pruning and auditing that are told to stop end between two steps; the next run goes
on, and a flow run ends as what it is.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli
from tests.support.stopping import Running

from chunkprep_store import Store

DOCUMENTS = 1200
FLOW = """
import sys
from chunkprep_flows.flow_control import StoppedRunError
from chunkprep_flows.upkeep import prune, recount
from chunkprep_flows.upkeep_settings import PruneSettings, RecountSettings
made = {"recount": lambda: recount(RecountSettings(encoding="cl100k_base")),
        "prune": lambda: prune(PruneSettings(older_than=0))}
try:
    made[sys.argv[1]]()
except StoppedRunError as stopped:
    print(stopped, file=sys.stderr)
    sys.exit(1)
"""


@pytest.fixture(scope="module")
def _two_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of many documents, each in two versions; made once."""
    cli = Cli(tmp_path_factory.mktemp("upkeep"))
    (cli.folder / "docs").mkdir()
    for edition in ("first", "second"):
        for n in range(DOCUMENTS):
            text = f"# D{n}\n\nThe {edition} edition of it.\n"
            (cli.folder / "docs" / f"{n}.md").write_text(text)
        cli.ingest(cli.folder / "docs", "--store", cli.url)
    return cli.folder / "chunkprep.db"


@pytest.fixture
def stocked(_two_versions: Path, cli: Cli) -> Cli:
    shutil.copyfile(_two_versions, cli.folder / "chunkprep.db")
    return cli


def counted(cli: Cli, query: str) -> int:
    with sqlite3.connect(cli.folder / "chunkprep.db") as database:
        found = int(database.execute(query).fetchone()[0])
    database.close()
    return found


def begun(cli: Cli, query: str) -> Callable[[], bool]:
    """Whether there is some of it by now."""
    return lambda: counted(cli, query) > 0


PRICES = "SELECT count(*) FROM chunk_prices"
PRUNED = "SELECT count(*) FROM versions WHERE pruned_at IS NOT NULL"


@pytest.mark.parametrize("group", [True, False])
def test_recount_goes_on_where_it_was(stocked: Cli, group: bool) -> None:
    command = ["recount", "--encoding", "cl100k_base"]
    stopped = Running(stocked.folder, *command).stop_once(begun(stocked, PRICES), group=group)
    stopped.check()
    assert "stopped, run it again to go on" in stopped.err
    priced = counted(stocked, PRICES)
    assert 0 < priced < 2 * DOCUMENTS
    assert f"priced {priced:,} chunks" in stopped.err
    assert stocked.json(*command)["chunks"] == 2 * DOCUMENTS - priced


@pytest.mark.parametrize("group", [True, False])
def test_prune_goes_on_where_it_was(stocked: Cli, group: bool) -> None:
    command = ["prune", "--older-than", "0"]
    stopped = Running(stocked.folder, *command).stop_once(begun(stocked, PRUNED), group=group)
    stopped.check()
    removed = counted(stocked, PRUNED)
    assert 0 < removed < DOCUMENTS
    assert f"removed {removed:,} versions" in stopped.err
    assert "stopped, run it again to go on" in stopped.err
    assert stocked.json(*command)["versions"] == DOCUMENTS - removed
    assert not stocked.lines("audit", "--json")


@pytest.mark.parametrize("group", [True, False])
def test_an_audit_says_that_it_was_stopped(stocked: Cli, group: bool) -> None:
    script = stocked.folder / "chunks.txt"
    script.write_text("")
    running = Running(stocked.folder, "audit", "--recount", "all", "--index-ids", str(script))
    stopped = running.stop_once(lambda: _opened(running, stocked), group=group)
    stopped.check()
    assert "stopped while the collection was audited" in stopped.err


def _opened(running: Running, cli: Cli) -> bool:
    """Whether the process has the store open."""
    files = Path(f"/proc/{running.process.pid}/fd")
    try:
        return any(file.resolve().name == "chunkprep.db" for file in files.iterdir())
    except OSError:
        return False


@pytest.mark.prefect
@pytest.mark.parametrize(("kind", "query"), [("recount", PRICES), ("prune", PRUNED)])
def test_a_stopped_flow_is_cancelled_and_its_record_says_so(
    prefect_api: str, stocked: Cli, kind: str, query: str
) -> None:
    from prefect import get_client

    (stocked.folder / "run.py").write_text(FLOW)
    env = {"PREFECT_API_URL": prefect_api}
    running = Running(stocked.folder, kind, env=env, program=[sys.executable, "run.py"])
    stopped = running.stop_once(begun(stocked, query))
    stopped.check()
    with Store.open(stocked.url, create=False) as store:
        [record] = [run for run in store.runs("default") if run.kind == kind]
    assert (record.summary or {})["stopped"]
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(record.flow_run_id).state  # type: ignore[arg-type]
    assert state is not None
    assert state.is_cancelled()
    assert "stopped" in str(state.message)
