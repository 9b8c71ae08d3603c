"""A disk that is full, or fails, under the store: what it is, what to do, and nothing lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Cli

DOCUMENTS = 300
FILE_BYTES = 1_500_000


def small_files() -> None:
    """No file may grow over FILE_BYTES; Python ignores the signal, so that writing fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def test_a_store_that_cannot_grow_is_no_wrong_usage_and_keeps_what_it_has(cli: Cli) -> None:
    (cli.folder / "docs").mkdir()
    for number in range(DOCUMENTS):
        text = f"# D{number}\n\n" + "Some words of a sentence that goes on. " * 100
        (cli.folder / "docs" / f"d{number}.md").write_text(text)
    command = [sys.executable, "-m", "chunkprep_flows.cli", "ingest", "docs", "--direct"]
    full = subprocess.run(
        command, cwd=cli.folder, env=dict(os.environ), capture_output=True, text=True,
        preexec_fn=small_files, check=False,
    )  # fmt: skip
    assert full.returncode == 1
    assert full.stderr.startswith("chunkprep: the database: ")
    assert full.stderr.count("\n") == 1
    kept = len(cli.lines("docs"))
    assert 0 < kept < DOCUMENTS
    assert cli.ingest("docs")["unchanged"] == kept
    assert cli.lines("audit", "--recount", "all") == []


def test_a_damaged_file_asks_for_a_backup(cli: Cli) -> None:
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "a.md").write_text("# A\n\nText.\n")
    cli.ingest("docs")
    store = Path(cli.folder / "chunkprep.db")
    pages = bytearray(store.read_bytes())
    for at in range(3 * 4096, len(pages), 4096):
        pages[at : at + 200] = b"\xff" * 200
    store.write_bytes(pages)
    assert "malformed; restore a backup" in cli("docs", code=1).stderr
