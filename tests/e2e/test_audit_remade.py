"""`chunkprep audit --recount` makes chunks again from the stored elements, and compares."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa
from tests.e2e.conftest import Cli

from chunkprep_store import Store
from chunkprep_store.tables import chunks, policies, profiles, versions

WORDS = "and so it goes on for a while. Until the paragraph is long enough to stand alone"
TEXT = f"# Refunds\n\nRefunds take thirty days {WORDS}.\n\n## Proof\n\nBring the receipt {WORDS}.\n"
OTHER = "# Luggage\n\n```\nfree\n```\n\nLuggage flies free. So do pets.\n"
Found = set[tuple[str, str, str | None]]


@pytest.fixture
def desk(cli: Cli, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """a.md with three versions, the last as the first; b.md with one."""
    monkeypatch.setenv("CHUNKPREP_STORE", store_url)
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "b.md").write_text(OTHER)
    for text in (TEXT, TEXT.replace("thirty", "ten"), TEXT):
        (cli.folder / "docs" / "a.md").write_text(text)
        cli.ingest("docs", "--cap", 60)
    return cli


def audit(cli: Cli, recount: object = "all") -> Found:
    result = cli("audit", "--recount", recount, "--json", "--fail-on", "never")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert all(f["message"] and f["remedy"] for f in found)
    return {(f["check"], f["severity"], f["document"]) for f in found}


def change(store_url: str, *statements: Any) -> None:
    with Store.open(store_url) as store, store.database.write() as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount


def test_whatever_was_done_to_documents_nothing_is_found(desk: Cli) -> None:
    desk("resplit", "--cap", 50)
    desk("withdraw", "b.md", "--reason", "wrong")
    desk("restore", "b.md")
    desk("restore", "a.md", "--version", 1)  # in chunks of the old cap
    desk("set", "a.md", "access=board")
    for recount in ("all", 3):
        assert audit(desk, recount) == {("policy_drift", "warning", "a.md")}


EDITS: dict[str, Any] = {
    "chunk_id": "0" * 32,
    "heading_path": '["Elsewhere"]',
    "kind": "table",
    "truncatable": False,
    "page": 7,
    "content_hash": "0" * 64,
    "header_tokens": 1,
    "delimiter_tokens": 9,
    "boundaries": "[]",
    "signature": b"1234",
}


@pytest.mark.parametrize("column", EDITS)
def test_an_edited_column_is_named(desk: Cli, store_url: str, column: str) -> None:
    first = (chunks.c.document == "a.md") & (chunks.c.version == 3) & (chunks.c.ordinal == 0)
    change(store_url, chunks.update().where(first).values({column: EDITS[column]}))
    found = audit(desk)
    assert ("remade", "error", "a.md") in found
    # a chunk with another id or hash is no successor's, or has none, any more
    assert found <= {("remade", "error", "a.md"), ("successors", "error", "a.md")}


@pytest.mark.parametrize("column", ["content_hash", "inputs"])
def test_a_versions_edited_digest_is_named(desk: Cli, store_url: str, column: str) -> None:
    b = sa.select(chunks.c.version_id).where(chunks.c.document == "b.md").scalar_subquery()
    change(store_url, versions.update().where(versions.c.id == b).values({column: "0" * 64}))
    assert audit(desk) == {("remade", "error", "b.md")}


def test_an_edited_policy_is_named(desk: Cli, store_url: str) -> None:
    change(store_url, policies.update().values(settings=json.dumps({"cap": 61})))
    assert audit(desk) == {("remade", "warning", None)}


@pytest.mark.parametrize("field", ["name", "opening", "delimiter", "marker"])
def test_an_edited_template_is_named(desk: Cli, store_url: str, field: str) -> None:
    with Store.open(store_url) as store, store.database.snapshot() as connection:
        template = json.loads(connection.execute(sa.select(profiles.c.template)).scalar_one())
    template[field] = {"delimiter": "\n\n*** and more\n"}.get(field, template[field] + "s")
    change(store_url, profiles.update().values(template=json.dumps(template)))
    found = audit(desk)
    assert ("remade", "warning", None) in found
    assert (("count_drift", "error", "a.md") in found) == (field not in ("name",))
