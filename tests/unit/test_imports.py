"""What each part loads: a service that packs carries neither readers, Prefect nor numpy."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.support.base_install import BLOCK

import chunkprep_ingest
import chunkprep_packer

ROOT = Path(__file__).parents[2]
SHELLS = {
    "chunkprep_ingest": {
        "collecting", "folder_walk", "front_matter", "key_clashes", "left_out", "listing",
        "reading_process", "reading_wire", "reading_worker", "regular_file", "remote", "rules",
        "source_filters", "source_globs", "source_trouble", "sources", "tokens", "url_names",
        "url_secrets",
    },
    "chunkprep_packer": {
        "async_client", "block_sizes", "client", "client_calls", "client_connections",
        "client_tasks", "collection_freshness", "gather", "langchain", "llamaindex", "log_figures",
        "log_writer", "logged", "logged_result", "pack_findings", "pack_names", "packer",
        "problem_details", "profiles", "record", "replay", "search_scores", "signatures", "slot",
        "stored_json",
    },
}  # fmt: skip
"""Modules that may read, write, ask the clock, load a tokenizer, set the process up or know the
store."""

OF_THE_EXTRAS = {
    "chunkprep_ingest.folder_walk",
    "chunkprep_ingest.rules",
    "chunkprep_ingest.source_filters",
    "chunkprep_ingest.sources",
    "chunkprep_packer.async_client",
    "chunkprep_packer.client",
    "chunkprep_packer.client_connections",
    "chunkprep_packer.client_tasks",
    "chunkprep_packer.langchain",
    "chunkprep_packer.llamaindex",
}
"""Modules that need an extra when they are imported, beside the readers."""


def run(script: str) -> str:
    """Standard output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules(package: str) -> set[str]:
    """Names of the package's own modules, folders left out."""
    path = {"chunkprep_ingest": chunkprep_ingest, "chunkprep_packer": chunkprep_packer}[package]
    return {found.name for found in pkgutil.iter_modules(path.__path__) if not found.ispkg}


def test_importing_the_packer_loads_nothing_heavy() -> None:
    heavy = (
        "fastapi", "prefect", "unstructured", "numpy", "tiktoken", "rensa", "alembic", "click",
        "rich",
    )  # fmt: skip
    loaded = run(
        "import json, sys, chunkprep_packer\n"
        f"print(json.dumps([n for n in {heavy!r} if n in sys.modules]))"
    )
    assert json.loads(loaded) == []


def test_the_base_install_imports_without_the_extras() -> None:
    script = BLOCK + (
        "import importlib, pkgutil\n"
        "for root in ('chunkprep_ingest', 'chunkprep_store', 'chunkprep_packer'):\n"
        "    package = importlib.import_module(root)\n"
        "    for found in pkgutil.walk_packages(package.__path__, root + '.'):\n"
        "        readers = found.name.startswith('chunkprep_ingest.readers')\n"
        "        scripts = '.migrations' in found.name\n"
        "        served = found.name.startswith((root + '.service.', root + '.pages'))\n"
        f"        if not (readers or scripts or served) and found.name not in {OF_THE_EXTRAS!r}:\n"
        "            importlib.import_module(found.name)\n"
        "import chunkprep_ingest.readers\n"
    )
    run(script)


@pytest.mark.parametrize("extra", ["client", "langchain", "llamaindex"])
def test_a_module_without_its_extra_says_which_one_it_needs(extra: str) -> None:
    script = BLOCK + (
        "try:\n"
        f"    import chunkprep_packer.{extra}\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    assert f"pip install 'chunkprep[{extra}]'" in run(script)


def test_every_command_shows_its_help_without_the_extras() -> None:
    script = BLOCK + (
        "import click\n"
        "from chunkprep_flows.cli import main\n"
        "def show(command, path):\n"
        "    context = click.Context(command, info_name=path)\n"
        "    print(command.get_help(context))\n"
        "    for name, each in getattr(command, 'commands', {}).items():\n"
        "        show(each, path + ' ' + name)\n"
        "show(main, 'chunkprep')\n"
    )
    assert "chunkprep report --out report.html" in run(script)


def test_every_module_is_in_the_contract_of_the_core_or_a_shell() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {c["name"]: c for c in project["tool"]["importlinter"]["contracts"]}
    pure = set(contracts["The core does no I/O"]["source_modules"])
    for package, shells in SHELLS.items():
        named = {name.rpartition(".")[2] for name in pure if name.startswith(package)}
        assert named.isdisjoint(shells)
        assert named | shells == modules(package)
    decided = set(contracts["Packing is decided without a store"]["source_modules"])
    assert decided == {name for name in pure if name.startswith("chunkprep_packer.")}
