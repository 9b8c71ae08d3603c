"""`chunkprep audit --json` on a store that was damaged by hand: it finds each damage, names it,
and names nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.e2e.conftest import Cli

from chunkprep_store import Store
from chunkprep_store.tables import chunks, collections, policies, versions

WORDS = "and so it goes on for a while until the paragraph is long enough to stand alone"
OLD = f"# Refunds\n\nRefunds take thirty days {WORDS}.\n\nBring the receipt {WORDS}.\n"
NEW = OLD.replace("thirty", "ten")
OTHER = "# Luggage\n\nLuggage flies free.\n"
Found = set[tuple[str, str | None]]


@pytest.fixture
def desk(cli: Cli, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """a.md with two versions of two chunks, b.md with one chunk, and an index of all ids."""
    monkeypatch.setenv("CHUNKPREP_STORE", store_url)
    (cli.folder / "docs").mkdir()
    (cli.folder / "docs" / "b.md").write_text(OTHER)
    for text in (OLD, NEW):
        (cli.folder / "docs" / "a.md").write_text(text)
        cli.ingest("docs", "--cap", 40)
    index(cli, "a.md", "b.md")
    return cli


def index(cli: Cli, *documents: str, version: int | None = None) -> list[str]:
    args = () if version is None else ("--version", version)
    ids = [c["chunk_id"] for d in documents for c in cli.lines("chunks", d, *args)]
    (cli.folder / "ids.txt").write_text("\n".join(ids))
    return ids


def audit(cli: Cli, *, recount: bool = True) -> Found:
    args = ["--sources", "docs", "--index-ids", "ids.txt", "--json", "--fail-on", "never"]
    result = cli("audit", *args, *(["--recount", "all"] if recount else []))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert all(f["message"] and f["remedy"] for f in found)
    return {(f["check"], f["document"]) for f in found}


def change(store_url: str, *statements: Any) -> None:
    with Store.open(store_url) as store, store.database.write() as connection:
        for statement in statements:
            if isinstance(statement, str):
                connection.exec_driver_sql(statement)
            else:
                assert connection.execute(statement).rowcount


def of(document: str, version: int, ordinal: int | None = None) -> Any:
    where = (chunks.c.document == document) & (chunks.c.version == version)
    return where if ordinal is None else where & (chunks.c.ordinal == ordinal)


DAMAGES: dict[str, tuple[tuple[Any, ...], Found]] = {
    "a second active version": (
        (
            "DROP INDEX uq_versions_one_active",
            versions.update().values(status="active"),
            chunks.update().values(status="active"),
        ),
        {("active_versions", "a.md")},
    ),
    "a wrong cached price": (
        (chunks.update().where(of("b.md", 1)).values(block_tokens=chunks.c.block_tokens + 1),),
        {("count_drift", "b.md")},
    ),
    "a dangling successor": (
        (chunks.update().where(of("a.md", 1, 1)).values(superseded_by="nobody"),),
        {("successors", "a.md")},
    ),
    "a missing successor": (
        (chunks.update().where(of("a.md", 1, 1)).values(superseded_by=None),),
        {("successors", "a.md")},
    ),
    "a chunk over the cap": (
        (policies.update().values(settings=json.dumps({"cap": 20})),),
        {("cap", "a.md"), ("remade", None)},
    ),
    "a stale profile": (
        (collections.update().values(profile="another"),),
        {("profile_drift", "a.md"), ("profile_drift", "b.md")},
    ),
    "a stale policy": (
        (collections.update().values(policy="another"),),
        {("policy_drift", "a.md"), ("policy_drift", "b.md")},
    ),
    "overlapping ranges": (
        (
            versions.update().where(versions.c.superseded_at.is_not(None)).values(
                effective_to=versions.c.effective_to + 1),
            chunks.update().where(of("a.md", 1)).values(effective_to=chunks.c.effective_to + 1),
        ),
        {("effective_ranges", "a.md")},
    ),
}  # fmt: skip


def test_nothing_is_found_before_the_damage(desk: Cli) -> None:
    assert audit(desk) == set()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_rows_is_named(desk: Cli, store_url: str, damage: str) -> None:
    statements, expected = DAMAGES[damage]
    change(store_url, *statements)
    assert audit(desk) == expected


def test_a_lost_chunk_is_named_and_missed_by_nobody_else(desk: Cli, store_url: str) -> None:
    change(store_url, sa.delete(chunks).where(of("a.md", 2, 1)))
    found = audit(desk)
    assert ("wholeness", "a.md") in found
    # what pointed to the chunk is broken too: the old chunk's successor, the index's id
    assert found <= {("wholeness", "a.md"), ("successors", "a.md"), ("index_stale", None)}


def test_a_boundary_inside_a_word_is_named(desk: Cli, store_url: str) -> None:
    change(store_url, chunks.update().where(of("b.md", 1)).values(
        boundaries='[[12,"sentence",9]]'))  # fmt: skip
    assert audit(desk, recount=False) == {("boundaries", "b.md")}


def remove(folder: Path) -> None:
    (folder / "docs" / "b.md").unlink()


def edit(folder: Path) -> None:
    (folder / "docs" / "b.md").write_text(OTHER + "\nAnd more.\n")


@pytest.mark.parametrize(
    ("act", "expected"),
    [(edit, {("source_changed", "b.md")}), (remove, {("source_missing", "b.md")})],
)
def test_an_edited_and_a_vanished_source_are_named(
    desk: Cli, act: Callable[[Path], None], expected: Found
) -> None:
    act(desk.folder)
    assert audit(desk) == expected


def test_an_index_file_with_old_ids_is_named(desk: Cli) -> None:
    old = index(desk, "a.md", version=1)
    now = index(desk, "a.md", "b.md")
    (desk.folder / "ids.txt").write_text("\n".join([*now, *old]))
    assert audit(desk) == {("index_stale", "a.md")}
    (desk.folder / "ids.txt").write_text("\n".join(now[:-1]))
    assert audit(desk) == {("index_missing", "b.md")}
