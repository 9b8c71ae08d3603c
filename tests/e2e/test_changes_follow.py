"""`chunkprep changes --follow`: entries as they come, and a clean end that tells the cursor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.e2e.conftest import Cli


def write(cli: Cli, text: str) -> None:
    (cli.folder / "a.md").write_text(f"# A\n\n{text}\n")
    cli.ingest("a.md", "--store", store_of(cli))


def store_of(cli: Cli) -> str:
    return os.environ.get("CHUNKPREP_STORE", f"sqlite:///{cli.folder / 'chunkprep.db'}")


@contextmanager
def following(cli: Cli, *args: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "chunkprep_flows.cli", "changes", "--follow"]
    with subprocess.Popen(
        [*command, "--store", store_of(cli), *map(str, args)],
        cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            yield running
        finally:
            running.kill()


def entry(running: subprocess.Popen[str]) -> Any:
    assert running.stdout is not None
    return json.loads(running.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_waits_for_more_and_ends_at_exit_0_with_the_cursor(
    cli: Cli, store_url: str, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("CHUNKPREP_STORE", store_url)
    write(cli, "Red.")
    with following(cli) as running:
        assert entry(running)["text"].endswith("Red.")
        write(cli, "Green.")
        upsert, remove = entry(running), entry(running)
        assert (upsert["action"], upsert["version"]) == ("upsert", 2)
        assert (remove["action"], remove["version"]) == ("remove", 1)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, "")
    assert err.splitlines()[-1] == f"cursor: {remove['cursor']}"
    assert "Traceback" not in err


def test_it_goes_on_after_a_cursor_and_stops_at_the_limit(cli: Cli) -> None:
    for text in ("Red.", "Green.", "Blue."):
        write(cli, text)
    with following(cli, "--since", 1, "--limit", 2) as running:
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0
    assert [json.loads(line)["cursor"] for line in out.splitlines()] == [2, 3]
    assert err == "cursor: 3\n"


def test_an_entry_carries_what_an_index_needs(cli: Cli) -> None:
    (cli.folder / "a.md").write_text(
        "---\ntitle: Fruit\nvalid_from: 2026-01-01\nvalid_to: 2027-01-01\nedition: 2\n"
        "tags: [red, sweet]\naccess: staff\n---\n# Apples\n\nApples are red.\n"
    )
    cli.ingest("a.md")
    [line] = cli("changes").stdout.splitlines()
    found = json.loads(line)
    [chunk] = cli.lines("chunks", "a.md")
    for name in ("chunk_id", "document", "version", "text", "header", "content_hash", "status"):
        assert found[name] == chunk[name], name
    assert (found["action"], found["heading_path"]) == ("upsert", chunk["heading_path"])
    assert found["effective_from"].startswith("2026-01-01T00:00:00")
    assert found["effective_to"] == found["metadata"]["valid_to"]
    assert (found["tags"], found["access"]) == (["red", "sweet"], ["staff"])
    assert (found["title"], found["metadata"]["edition"]) == ("Fruit", "2")
