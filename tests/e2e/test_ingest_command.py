"""`chunkprep ingest`: what is reported, what is left alone, what is withdrawn."""

from __future__ import annotations

import os
from pathlib import Path

from tests.e2e.conftest import Cli

KEYS = {
    "run_id", "collection", "seen", "new", "updated", "metadata_only", "unchanged", "withdrawn",
    "skipped", "failed", "chunks_written", "tokens_written", "seconds", "documents",
}  # fmt: skip


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def outcomes(report: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {d["document"]: d["outcome"] for d in report["documents"]}


def test_the_report_has_the_contract_s_shape(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\nSome text.\n")
    report = cli.ingest("docs")
    assert report.keys() >= KEYS
    assert (report["seen"], report["new"], report["chunks_written"]) == (1, 1, 1)
    [document] = report["documents"]
    assert document.keys() >= {
        "document", "version", "outcome", "chunks", "coverage", "warnings", "error"
    }  # fmt: skip
    assert (document["document"], document["version"], document["outcome"]) == ("a.md", 1, "new")


def test_samples_of_every_format_are_ingested(ingested: Cli) -> None:
    ingested.ingest("samples")  # the copy lies elsewhere: new URIs, nothing else
    report = ingested.ingest("samples")
    assert report["unchanged"] == report["seen"] == 13
    assert report["chunks_written"] == 0
    suffixes = {Path(d["document"]).suffix for d in report["documents"]}
    assert suffixes == {
        ".md", ".html", ".docx", ".pdf", ".pptx", ".xlsx", ".csv", ".eml", ".txt"
    }  # fmt: skip


def test_a_second_run_writes_nothing_and_a_touch_changes_nothing(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\nText.\n", b="# B\n\nText.\n")
    cli.ingest("docs")
    os.utime(cli.folder / "docs" / "a.md", (1, 1))
    report = cli.ingest("docs")
    assert (report["unchanged"], report["chunks_written"]) == (2, 0)


def test_a_changed_text_is_a_new_version_and_hidden_metadata_is_not(cli: Cli) -> None:
    write(cli.folder / "docs", a="---\nauthority: 1\n---\n# A\n\nText.\n", b="# B\n\nText.\n")
    cli.ingest("docs")
    write(cli.folder / "docs", a="---\nauthority: 2\n---\n# A\n\nText.\n", b="# B\n\nNew.\n")
    assert outcomes(cli.ingest("docs")) == {"a.md": "metadata_only", "b.md": "updated"}
    [doc] = [d for d in cli.lines("docs") if d["document"] == "a.md"]
    assert (doc["version"], doc["authority"]) == (1, 2)


def test_a_sidecar_that_appears_is_seen_though_the_bytes_are_the_same(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\nText.\n")
    cli.ingest("docs")
    (cli.folder / "docs" / "a.md.meta.yaml").write_text("authority: 7\n")
    assert outcomes(cli.ingest("docs")) == {"a.md": "metadata_only"}
    assert outcomes(cli.ingest("docs")) == {"a.md": "unchanged"}


def test_an_unsupported_file_is_skipped_when_found_and_fails_when_named(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\nText.\n")
    (cli.folder / "docs" / "tool.exe").write_bytes(b"MZ")
    assert outcomes(cli.ingest("docs")) == {"a.md": "new", "tool.exe": "skipped"}
    report = cli.ingest("docs/tool.exe", code=1)
    assert report["documents"][0]["error"]["code"] == "unsupported_type"


def test_a_dry_run_writes_nothing_and_counts_what_would_be_embedded(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\nText.\n")
    report = cli.ingest("docs", "--dry-run")
    assert (report["new"], report["chunks_written"], report["dry_run"]) == (1, 1, True)
    assert not (cli.folder / "chunkprep.db").exists()
    cli.ingest("docs")
    before = cli.lines("versions", "a.md")
    write(cli.folder / "docs", a="# A\n\nOther text.\n")
    assert outcomes(cli.ingest("docs", "--dry-run")) == {"a.md": "updated"}
    assert cli.lines("versions", "a.md") == before


def test_the_collection_keeps_its_cap_until_another_is_asked_for(cli: Cli) -> None:
    write(cli.folder / "docs", a="# A\n\n" + "Some words of text. " * 60)
    cli.ingest("docs", "--cap", 100)
    assert outcomes(cli.ingest("docs")) == {"a.md": "unchanged"}
    foreseen = cli.ingest("docs", "--cap", 200, "--dry-run")
    report = cli.ingest("docs", "--cap", 200)
    assert outcomes(report) == {"a.md": "updated"}
    assert report["warnings"] == foreseen["warnings"]
    [warning] = report["warnings"]
    assert "changes its cap from 100 to 200: all its documents are made again" in warning
    assert cli.ingest("docs", "--cap", 200)["warnings"] == []
    [warning] = cli.ingest("docs", "--encoding", "cl100k_base", "--template", "xml")["warnings"]
    assert "its encoding from o200k_base to cl100k_base and its template:" in warning
    assert max(c["block_tokens"] for c in cli.lines("chunks", "a.md")) <= 200


def test_the_same_key_from_another_place_is_a_warning(cli: Cli) -> None:
    write(cli.folder / "x", a="# A\n\nOne.\n", b="# B\n\nOne.\n")
    write(cli.folder / "y", a="# A\n\nTwo.\n", c="# C\n\nTwo.\n")
    assert cli.ingest("x")["warnings"] == []
    assert cli.ingest("x")["warnings"] == []
    report = cli.ingest("y")
    assert outcomes(report) == {"a.md": "updated", "c.md": "new"}
    [warning] = report["warnings"]
    assert warning.startswith("same key, other place: a.md was read from file:///")
    assert "/x/a.md and is now file:///" in warning
    assert cli.ingest("y")["warnings"] == []


def test_workers_and_runners_give_the_same_chunk_ids(cli: Cli) -> None:
    for number in range(9):
        write(cli.folder / "docs", **{f"d{number}": f"# D{number}\n\nText {number}.\n"})

    def ids(*args: object) -> list[str]:
        store = f"sqlite:///{len(list(cli.folder.iterdir()))}.db"
        cli.ingest("docs", "--store", store, *args)
        return [
            chunk["chunk_id"]
            for doc in cli.lines("docs", "--store", store)
            for chunk in cli.lines("chunks", doc["document"], "--store", store)
        ]

    alone = ids()
    assert ids("--workers", 3) == alone
    assert ids("--workers", 2, "--runner", "process") == alone
