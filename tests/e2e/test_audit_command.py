"""`chunkprep audit`: table, JSON lines and a page; exit codes by severity."""

from __future__ import annotations

import sqlite3
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

NASTY = '<script>alert("x")</script> & co.md'


@pytest.fixture
def graded(cli: Cli) -> Cli:
    """A store with an error, a warning and a note."""
    (cli.folder / "docs").mkdir()
    texts = {
        "priced.md": "# A\n\nApples.\n",
        "due.md": "---\nreview_by: 2020-01-01\n---\n# B\n\nBananas.\n",
        "coming.md": "---\nvalid_from: 2999-01-01\n---\n# C\n\nCherries.\n",
    }
    for name, text in texts.items():
        (cli.folder / "docs" / name).write_text(text)
    cli.ingest("docs")
    damage(cli.folder, "UPDATE chunks SET block_tokens = block_tokens + 1 WHERE document = ?",
           "priced.md")  # fmt: skip
    return cli


def damage(folder: Path, statement: str, document: str) -> None:
    database = sqlite3.connect(folder / "chunkprep.db")
    with database:
        assert database.execute(statement, (document,)).rowcount
    database.close()


def mend(cli: Cli, document: str) -> None:
    statement = "UPDATE chunks SET block_tokens = block_tokens - 1 WHERE document = ?"
    damage(cli.folder, statement, document)


def test_findings_are_one_line_of_json_each_worst_first(graded: Cli) -> None:
    found = graded.lines("audit", code=1)
    assert [(f["severity"], f["check"], f["document"]) for f in found] == [
        ("error", "count_drift", "priced.md"),
        ("warning", "review_due", "due.md"),
        ("info", "not_yet_valid", "coming.md"),
    ]
    keys = {"check", "severity", "document", "version", "chunk_id", "message", "remedy"}
    assert all(f.keys() == keys for f in found)


@pytest.mark.parametrize(
    ("worst", "exits"),
    [
        ("error", {"error": 1, "warning": 1, "info": 1, "never": 0}),
        ("warning", {"error": 0, "warning": 1, "info": 1, "never": 0}),
        ("info", {"error": 0, "warning": 0, "info": 1, "never": 0}),
        ("nothing", {"error": 0, "warning": 0, "info": 0, "never": 0}),
    ],
)
def test_the_exit_code_follows_the_worst_severity(
    graded: Cli, worst: str, exits: dict[str, int]
) -> None:
    if worst != "error":
        mend(graded, "priced.md")
    if worst in {"info", "nothing"}:
        graded("set", "due.md", "review_by=2999-01-01")
    if worst == "nothing":
        graded("withdraw", "coming.md", "--reason", "cancelled")
    for level, code in exits.items():
        graded("audit", "--fail-on", level, code=code)
    graded("audit", code=exits["error"])
    assert "fail-on" in graded("audit", "--fail-on", "some", code=2).stderr


def test_a_table_on_stdout_and_the_counts_on_stderr(graded: Cli) -> None:
    result = graded("audit", code=1)
    assert "count_drift" in result.stdout
    assert result.stderr.strip() == "audit: 1 error, 1 warning, 1 note"


class Page(HTMLParser):
    """What a browser would see: elements, what they would load, and the cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [f"{name}={value}" for name, value in attrs if name in {"src", "href"}]
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_the_page_is_self_contained_and_escaped(graded: Cli) -> None:
    graded("set", "due.md", "review_by=2999-01-01")
    graded("withdraw", "coming.md", "--reason", "cancelled")
    database = sqlite3.connect(graded.folder / "chunkprep.db")
    with database:
        for table in ("documents", "chunks"):
            statement = f"UPDATE {table} SET document = ? WHERE document = 'priced.md'"
            database.execute(statement, (NASTY,))
    database.close()
    result = graded("audit", "--html", "audit.html", code=1)
    assert (result.stdout, "wrote audit.html" in result.stderr) == ("", True)
    text = (graded.folder / "audit.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert "script" not in page.tags
    assert page.loads == []
    assert "@import" not in text
    assert "url(" not in text
    assert NASTY in page.cells
    assert "count_drift" in page.cells


def test_a_page_of_a_healthy_store_and_json_beside_it(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("# A\n\nApples.\n")
    cli.ingest("a.md")
    assert cli.lines("audit", "--html", "audit.html") == []
    assert "No check found anything" in (cli.folder / "audit.html").read_text()
    error = cli("audit", "--html", "nowhere/audit.html", code=2).stderr
    assert "nowhere/audit.html" in error
    assert error.count("\n") == 1
