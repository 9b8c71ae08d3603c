"""A stdout that takes ASCII only ends no work that is done, and bends no pack."""

from __future__ import annotations

import json

from tests.e2e.conftest import Cli, Process

ASCII = {"PYTHONIOENCODING": "ascii"}


def test_names_and_texts_are_escaped_and_a_pack_is_its_own_bytes(
    cli: Cli, process: Process
) -> None:
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "ü.md").write_text("# Übung\n\nÄpfel.\n", encoding="utf-8")
    done = process("ingest", "docs", "--direct", env=ASCII)
    assert (done.returncode, "\\xfc.md" in done.stdout) == (0, True)
    listed = process("docs", "--json", env=ASCII)
    assert json.loads(listed.stdout)["document"] == "ü.md"
    candidates = cli.folder / "hits.jsonl"
    candidates.write_text(cli("search", "Äpfel", "--json").stdout, encoding="utf-8")
    packed = process("pack", "--budget", "100", "--candidates", str(candidates), env=ASCII)
    assert packed.stdout == cli("pack", "--budget", "100", "--candidates", candidates).stdout
    assert "Äpfel" in packed.stdout
