"""Several new documents in one transaction stand as if each had been written alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store
from chunkprep_store.tables import changes, chunks, collections, documents, elements, versions

Prepare = Callable[..., PreparedVersion]

TEXT = "# Refunds\n\nRefunds take thirty days.\n\nBring the receipt."


def four(prepare: Prepare) -> list[PreparedVersion]:
    return [
        prepare("a.md", TEXT, access="staff", tags="x"),
        prepare("draft.md", TEXT, status="draft"),
        prepare("gone.md", TEXT, status="withdrawn"),
        prepare("later.md", TEXT, valid_from=5_000, valid_to=9_000),
    ]


def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored of the documents, in order."""
    with store.database.snapshot() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(sa.select(table).order_by(order))]
            for table, order in (
                (documents, documents.c.document),
                (versions, versions.c.id),
                (elements, elements.c.version_id),
                (chunks, chunks.c.id),
            )
        }


def test_new_documents_are_written_as_each_is_alone(store: Store, prepare: Prepare) -> None:
    made = four(prepare)
    together = store.write_new("c", made, now=100, run_id="r")
    found, told = rows(store), store.changes("c")
    for version in made:
        store.erase("c", version.document, now=200)
    with store.database.write() as connection:
        connection.execute(changes.delete())
        connection.execute(documents.delete())
        connection.execute(collections.update().values(change_cursor=0))
    alone = [store.write_version("c", version, now=100, run_id="r") for version in made]
    assert together == alone
    again = rows(store)
    for table, renumbered in (("documents", 2), ("versions", 2), ("elements", 1), ("chunks", 3)):
        assert [r[renumbered:] for r in found[table]] == [r[renumbered:] for r in again[table]]
    assert told == store.changes("c")


def test_what_is_here_or_supersedes_is_left_to_write_version(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("old.md", TEXT), now=100)
    made = [
        prepare("old.md", "Other text."),
        prepare("new.md", TEXT),
        prepare("new.md", "The same document twice."),
        prepare("next.md", TEXT, supersedes="old.md"),
    ]
    assert [done.document for done in store.write_new("c", made, now=200)] == ["new.md"]
    assert store.known("c", ["old.md"])["old.md"].version == 1
    assert store.write_new("c", made, now=300) == []
    assert store.write_new("c", [], now=300) == []


def test_a_name_that_another_document_gave_is_here_already(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("next.md", TEXT, supersedes="old.md"), now=100)
    assert store.write_new("c", [prepare("old.md", TEXT)], now=200) == []


def test_all_or_none(store: Store, prepare: Prepare) -> None:
    bad = prepare("b.md", TEXT)
    broken = type(bad)(
        **{n: getattr(bad, n) for n in bad.__slots__} | {"chunks": bad.chunks + bad.chunks[:1]}
    )
    with pytest.raises(StoreError, match=r"(?i)unique"):
        store.write_new("c", [prepare("a.md", TEXT), broken], now=100)
    assert list(rows(store).values()) == [[], [], [], []]
    assert store.write_new("c", [prepare("a.md", TEXT)], now=200)[0].outcome == "new"


def test_success_forgets_the_failures(store: Store, prepare: Prepare) -> None:
    for key in ("a.md", "b.md"):
        store.record_failure("c", key, uri="u", code="corrupt", message="m", remedy="r", now=1)
    store.write_new("c", [prepare("a.md", TEXT)], now=100)
    assert [failure.document for failure in store.failures("c")] == ["b.md"]
