"""A process that was forked from the one that opened a store says so, and does it no harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_store import Store

NOW = 1_700_000_000_000_000
SCRIPT = Path(__file__).parent.parent / "support" / "forked_packer.py"
MESSAGE = "opened in another process, which this one was forked from; open a Packer or a Store in"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize("mode", ["background", "sync", "off"])
def test_a_forked_process_is_told_from_its_first_call(
    store: Store, store_url: str, mode: str
) -> None:
    ingest(store, "refund.md", "# Refund\n\nPaid within 14 days.\n", now=NOW)
    [name, *_] = chunk_ids(store, "refund.md")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", SCRIPT, store_url, mode, name],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    calls = ("pack", "flush", "documents", "packs", "withdraw", "search", "vacuum")
    told = {call: line for call, _, line in (line.partition(": ") for line in said[:-1])}
    assert set(told) == {*calls, "closed"}
    for call in calls:
        if call == "flush" and mode == "off":
            assert told[call] == "answered"
        else:
            assert MESSAGE in told[call], call
    assert said[-1] == "parent: child 0, losses 0"
    logged = [record.request_id for record in store.packs("default")]
    assert logged == ([] if mode == "off" else ["before", "after"])
