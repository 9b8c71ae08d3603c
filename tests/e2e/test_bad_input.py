"""Each kind of bad input fails alone, with its code and a remedy; the others are ingested."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pikepdf
import pytest
from fpdf import FPDF
from tests.e2e.conftest import SAMPLES, Cli, Process

from chunkprep_ingest.ids import bytes_hash
from chunkprep_store import Store


def a_pdf(text: str) -> bytes:
    pdf = FPDF()
    pdf.add_page()
    if text:
        pdf.set_font("helvetica", size=12)
        pdf.multi_cell(0, 6, text)
    else:
        pdf.rect(20, 20, 80, 80)
    return bytes(pdf.output())


def encrypt(path: Path) -> None:
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.save(path, encryption=pikepdf.Encryption(user="secret", owner="secret"))


def make_bad_files(folder: Path) -> dict[str, str]:
    """One file of each kind; returns the code that each must fail with."""
    folder.mkdir()
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.txt").write_bytes(b" \n\n ")
    docx = (SAMPLES / "handbook" / "complaints.docx").read_bytes()
    (folder / "truncated.docx").write_bytes(docx[: len(docx) // 2])
    (folder / "locked.pdf").write_bytes(a_pdf("Nobody may read this."))
    encrypt(folder / "locked.pdf")
    (folder / "scan.pdf").write_bytes(a_pdf(""))
    (folder / "latin.txt").write_bytes("Stra\u00dfe und Caf\u00e9\n".encode("latin-1"))
    (folder / "dates.md").write_text("---\nvalid_from: 2026-02-01\nvalid_to: 2026-01-01\n---\nX.\n")
    return {
        "empty.md": "empty",
        "blank.txt": "empty",
        "truncated.docx": "corrupt",
        "locked.pdf": "needs_password",
        "scan.pdf": "no_text_layer",
        "latin.txt": "bad_encoding",
        "dates.md": "bad_metadata",
    }


def test_bad_files_fail_alone_and_the_good_ones_are_ingested(cli: Cli) -> None:
    expected = make_bad_files(cli.folder / "docs")
    (cli.folder / "docs" / "good.md").write_text("# Good\n\nText.\n")
    (cli.folder / "tool.exe").write_bytes(b"MZ")
    report = cli.ingest("docs", "tool.exe", "nowhere", code=1)
    expected |= {"tool.exe": "unsupported_type", "nowhere": "unreadable"}
    failed = [d for d in report["documents"] if d["outcome"] == "failed"]
    assert {d["document"]: d["error"]["code"] for d in failed} == expected
    assert all(d["error"]["message"] and d["error"]["remedy"] for d in failed)
    assert (report["new"], report["failed"]) == (1, len(expected))
    listed = cli.lines("failures", code=1)
    del expected["nowhere"]  # no file and no document: a slip
    assert {f["document"]: f["code"] for f in listed} == expected


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_unreadable(cli: Cli) -> None:
    (cli.folder / "secret.md").write_text("# Secret\n")
    (cli.folder / "secret.md").chmod(0)
    report = cli.ingest("secret.md", code=1)
    assert report["documents"][0]["error"]["code"] == "unreadable"


def test_a_folder_named_like_a_document_is_unreadable_as_one(cli: Cli) -> None:
    """Readable by nobody, root included: the stand-in for a file without permission."""
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "loop.md").symlink_to("loop.md")
    report = cli.ingest("docs/loop.md", code=1)
    assert report["documents"][0]["error"]["code"] == "unreadable"


def test_the_table_names_each_failure_with_its_remedy_on_stderr(cli: Cli) -> None:
    make_bad_files(cli.folder / "docs")
    result = cli("ingest", "docs", "--direct", code=1)
    assert "latin.txt: bad_encoding: " in result.stderr
    assert "truncated.docx: corrupt: " in result.stderr
    assert not [line for line in result.stderr.splitlines() if line.count("truncated.docx:") > 1]
    assert "--fallback-encoding" in result.stderr


def test_a_declared_fallback_mends_the_encoding(cli: Cli) -> None:
    (cli.folder / "latin.txt").write_bytes("Caf\u00e9 und Stra\u00dfe\n".encode("latin-1"))
    cli.ingest("latin.txt", code=1)
    cli.ingest("latin.txt", "--fallback-encoding", "latin-1")
    assert "Caf\u00e9" in cli.lines("chunks", "latin.txt")[0]["text"]
    assert cli.lines("failures") == []


def test_a_file_that_turns_bad_keeps_its_last_good_version(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("# A\n\nText.\n")
    cli.ingest("a.md")
    (cli.folder / "a.md").write_text("")
    cli.ingest("a.md", code=1)
    assert cli.lines("docs")[0]["status"] == "active"
    assert "Text." in cli.lines("chunks", "a.md")[0]["text"]


def test_failing_bytes_are_tried_in_three_runs_and_then_only_with_retry(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("")

    def attempts() -> int:
        return int(cli.lines("failures", code=1)[0]["attempts"])

    for run in (1, 2, 3, 3, 3):
        report = cli.ingest("a.md", code=1)
        assert report["documents"][0]["error"]["code"] == "empty"
        assert attempts() == run
    cli.ingest("a.md", "--retry", code=1)
    assert attempts() == 4
    cli("failures", "--retry", code=1)
    assert attempts() == 5
    (cli.folder / "a.md").write_text("# A\n\nText.\n")
    assert cli.ingest("a.md")["new"] == 1
    assert cli.lines("failures") == []


def test_a_mended_cause_is_tried_at_once_after_three_failures(cli: Cli) -> None:
    docs = cli.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nText.\n")
    (docs / "latin.txt").write_bytes("Caf\u00e9\n".encode("latin-1"))
    (docs / "chunkprep.yaml").write_text("rules: 7\n")
    for _ in range(4):
        result = cli("ingest", "docs", "--direct", code=1)
    assert result.stdout.count("failed 3 times and not tried again; --retry tries it") == 2
    (docs / "chunkprep.yaml").unlink()
    assert cli.ingest("docs", code=1)["new"] == 1
    assert cli.ingest("docs", "--fallback-encoding", "latin-1")["new"] == 1
    (docs / "empty.md").write_text("")
    for _ in range(4):
        cli.ingest("docs", code=1)
    failure = cli.lines("failures", code=1)[0]
    assert (failure["attempts"], failure["bytes_hash"]) == (3, bytes_hash(b""))


def test_another_fallback_encoding_reads_again_what_needed_it(cli: Cli) -> None:
    docs = cli.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Caf\u00e9\n\nText.\n", encoding="utf-8")
    (docs / "b.txt").write_bytes("5 \u20ac\n".encode("cp1252"))
    page = '<html><head><meta charset="cp1252"></head><body><p>5 \u20ac</p></body></html>'
    (docs / "c.html").write_bytes(page.encode("cp1252"))
    assert cli.ingest("docs", "--fallback-encoding", "latin-1")["new"] == 3
    report = cli.ingest("docs", "--fallback-encoding", "cp1252")
    assert (report["updated"], report["unchanged"]) == (1, 2)
    assert "5 \u20ac" in cli.lines("chunks", "b.txt")[0]["text"]
    assert cli.ingest("docs", "--fallback-encoding", "windows-1252")["unchanged"] == 3
    assert cli.ingest("docs")["unchanged"] == 3


def test_an_unknown_fallback_encoding_is_refused_at_once(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("# A\n")
    for name in ("klingon", "base64"):
        for command in (["ingest", "a.md"], ["schedule", "a.md", "--every", "9"]):
            result = cli(*command, "--fallback-encoding", name, code=2)
            assert result.stderr.count("\n") == 1
            assert name in result.stderr
            assert "cp1252" in result.stderr
    assert not (cli.folder / "chunkprep.db").exists()


def test_failures_retry_ingests_what_was_mended(cli: Cli) -> None:
    (cli.folder / "docs" / "sub").mkdir(parents=True)
    (cli.folder / "docs" / "sub" / "a.md").write_text("")
    cli.ingest("docs", code=1)
    (cli.folder / "docs" / "sub" / "a.md").write_text("# A\n\nText.\n")
    cli("failures", "--retry")
    assert [d["document"] for d in cli.lines("docs")] == ["sub/a.md"]
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        assert [run.kind for run in store.runs("default")] == ["retry", "ingest"]


def test_a_failing_file_that_is_gone_is_no_failure_after_a_complete_listing(cli: Cli) -> None:
    docs = cli.folder / "docs"
    docs.mkdir()
    for name in ("a.md", "b.md"):
        (docs / name).write_text("")
    cli.ingest("docs", code=1)
    (docs / "a.md").unlink()
    cli.ingest("docs", "--dry-run", code=1)
    cli.ingest("docs", "--include", "c.md")
    assert [f["document"] for f in cli.lines("failures", code=1)] == ["b.md"]
    (docs / "b.md").unlink()
    cli.ingest("docs")
    assert cli.lines("failures") == []


def test_a_listing_with_a_gap_says_nothing_of_failures(cli: Cli) -> None:
    docs = cli.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("")
    cli.ingest("docs", code=1)
    (docs / "a.md").unlink()
    cli.ingest("docs", "nowhere", code=1)
    assert [f["document"] for f in cli.lines("failures", code=1)] == ["a.md"]


def test_a_mistyped_name_fails_and_leaves_no_record(cli: Cli) -> None:
    for name in ("nosuch", "nosuch/*.md", "no.md"):
        report = cli.ingest(name, code=1)
        assert report["documents"][0]["error"]["code"] == "unreadable"
    assert cli.lines("failures") == []


def test_a_named_file_that_vanished_is_listed_while_its_document_stands(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("# A\n")
    cli.ingest("a.md")
    (cli.folder / "a.md").unlink()
    cli.ingest("a.md", code=1)
    assert [f["code"] for f in cli.lines("failures", code=1)] == ["unreadable"]
    (cli.folder / "a.md").write_text("# A\n")
    cli.ingest("a.md")
    assert cli.lines("failures") == []


def test_an_old_schema_is_one_line_that_names_the_remedy(process: Process, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    assert process("ingest", "a.md", "--direct").returncode == 0
    with sqlite3.connect(tmp_path / "chunkprep.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '0000'")
    database.close()
    for command in (["docs"], ["ingest", "a.md", "--direct"], ["search", "text"]):
        done = process(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "`chunkprep db upgrade`" in done.stderr


def test_what_an_ignore_file_leaves_out_is_not_guessed(cli: Cli) -> None:
    (cli.folder / "docs" / "private").mkdir(parents=True)
    (cli.folder / "docs" / "good.md").write_text("# Good\n")
    (cli.folder / "docs" / "private" / "pay.md").write_text("# Pay\n")
    ignore = cli.folder / "docs" / "private" / ".chunkprepignore"
    ignore.mkdir()
    report = cli.ingest("docs", code=1)
    assert (report["new"], report["failed"]) == (1, 1)
    assert [f["document"] for f in cli.lines("failures", code=1)] == ["private/.chunkprepignore"]
    ignore.rmdir()
    ignore.write_text("pay.md\n", encoding="utf-16")
    assert cli.ingest("docs")["unchanged"] == 1
    assert cli.lines("failures") == []
