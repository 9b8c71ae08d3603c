"""docs/service.md and the README's lines on the service, against a real one."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.e2e.conftest import ROOT, Cli
from tests.e2e.test_docs import run
from tests.support.serving import Served, serving
from tests.support.walkthrough import Command, File, steps

from chunkprep_flows.commands.serve import serve

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


def serve_lines(page: str) -> list[tuple[dict[str, str], list[str]]]:
    """The variables and the options of each `chunkprep serve`, without its port."""
    found = []
    for line in re.findall(r"^(?:\w+=\S+ )*chunkprep serve.*$", page, re.MULTILINE):
        before, _, options = line.partition("chunkprep serve")
        variables = dict(one.split("=", 1) for one in before.split())
        found.append((variables, re.sub(r"--port \d+", "", options).split()))
    return found


def test_every_curl_line_is_answered(ingested: Cli) -> None:
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    (_, options), _ = serve_lines(PAGE)
    assert options == ["--workers", "2"]
    with serving(store, ingested.folder, *options) as served:
        [line] = curls(README)
        packed = json.loads(curl(served, line))
        assert packed["blocks"]
        assert "refund" in packed["text"].lower()
        gone = [{"chunk_id": "gone", "score": 1}]  # a skip: workers tell of what has happened
        assert served.post("/v1/pack", {"budget": 9, "candidates": gone}).status_code == 200
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
        for page in ("packs", "corpus", "health", "runs"):
            assert served.get(f"/pages/default/{page}", auditor).status_code == 200
            assert served.get(f"/pages/default/{page}", assistant).status_code == 403


def test_the_limits_of_the_page_hold_and_its_table_is_that_of_the_command(
    ingested: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"sqlite:///{ingested.folder / 'chunkprep.db'}"
    _, (variables, options) = serve_lines(PAGE)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with serving(store, ingested.folder, *options) as served:
        many = [{"chunk_id": str(n), "score": 1} for n in range(201)]
        answer = served.post("/v1/pack", {"budget": 9, "candidates": many})
        assert (answer.status_code, answer.json()["field"]) == (422, "candidates")
        assert served.post("/v1/pack", b" " * 4_000_001).status_code == 413
    shown = {(row[0], row[1]) for row in re.findall(r"^\| `(--[\w-]+)` \| (\d+) \|", PAGE, re.M)}
    bounds = {max(each.opts, key=len): str(each.default) for each in serve.params}
    bounded = {"--workers", "--threads"} | {name for name in bounds if name.startswith("--max-")}
    assert shown == {(name, bounds[name]) for name in bounded}


def test_the_python_of_the_page_reads_the_service(
    ingested: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    [example] = [step for step in steps(PAGE) if isinstance(step, File)]
    key = ingested.json("keys", "add", "auditor", "--role", "admin", "--access", "*")["key"]
    with serving(f"sqlite:///{ingested.folder / 'chunkprep.db'}", ingested.folder) as served:
        monkeypatch.setenv("SERVICE_URL", served.url)
        monkeypatch.setenv("SERVICE_KEY", key)
        done = subprocess.run(
            [sys.executable, "-c", example.text], capture_output=True, text=True, check=True
        )
    count = len(ingested.lines("docs"))
    assert done.stdout.splitlines()[:2] == [f"{count} documents", "5 changes of the first five"]


@pytest.mark.parametrize("page", [PAGE, README])
def test_the_pages_say_how_to_start_it(page: str) -> None:
    assert serve_lines(page)
