"""docs/service.md and the README's lines on the service, against a real one."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from tests.e2e.conftest import ROOT, Cli
from tests.e2e.test_docs import run
from tests.support.serving import Served, serving
from tests.support.walkthrough import Command, steps

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def curl(served: Served, line: str) -> str:
    """What a line with `curl` prints when it goes to this service."""
    there = line.replace("http://127.0.0.1:8000", served.url)
    assert there != line
    done = subprocess.run(there, shell=True, capture_output=True, text=True, check=True)
    return done.stdout


def curls(page: str) -> list[str]:
    return re.findall(r"^curl .*$", page, re.MULTILINE)


def test_every_curl_line_is_answered(ingested: Cli) -> None:
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    with serving(store, ingested.folder) as served:
        [line] = curls(README)
        packed = json.loads(curl(served, line))
        assert packed["blocks"]
        assert "refund" in packed["text"].lower()
        said = {line: curl(served, line) for line in curls(PAGE)}
        assert len(said) == 5
        assert not [text for text in said.values() if '"detail"' in text]
        [figures] = [text for line, text in said.items() if "metrics" in line]
        named = set(re.findall(r"`(chunkprep_\w+)`", PAGE))
        assert named >= {"chunkprep_pack_fill", "chunkprep_log_losses"}
        assert {name for name in named if name not in figures} == set()


def test_the_keys_of_the_page_open_what_it_says(ingested: Cli) -> None:
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    lines = [step for step in steps(PAGE) if isinstance(step, Command)]
    keys = [run(ingested, line).split()[0] for line in lines if "keys add" in line.line]
    assistant, auditor = keys
    with serving(store, ingested.folder) as served:
        assert served.get("/v1/documents").status_code == 401
        assert served.get("/v1/documents", assistant).status_code == 200
        assert served.get("/v1/changes", assistant).status_code == 403
        assert served.get("/v1/changes", auditor).status_code == 200
        for page in ("packs", "corpus", "health"):
            assert served.get(f"/pages/default/{page}", auditor).status_code == 200
            assert served.get(f"/pages/default/{page}", assistant).status_code == 403


@pytest.mark.parametrize("page", [PAGE, README])
def test_the_pages_say_how_to_start_it(page: str) -> None:
    assert re.search(r"^chunkprep serve", page, re.MULTILINE)
