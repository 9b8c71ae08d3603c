"""The audit finds rows that were edited behind chunkprep's back, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Finding, FurtherPrice, Store
from chunkprep_store.tables import changes, chunk_prices, chunks, documents, versions

Prepare = Callable[..., PreparedVersion]

ONE = "# Refunds\n\nRefunds take thirty days.\n\nBring the receipt."
TWO = ONE.replace("thirty", "ten")
LABELLED = {"access": ["board"], "tags": ["money"], "source": "intranet", "authority": 5}


@pytest.fixture
def filled(store: Store, prepare: Prepare) -> Store:
    """a.md with two versions, b.md that only the board may read, c.md that was withdrawn."""
    store.put_profile("profile-1", "words", prepare_template(), 1)
    store.write_version("c", prepare("a.md", ONE), now=100)
    store.write_version("c", prepare("a.md", TWO), now=200)
    store.write_version("c", prepare("b.md", ONE, **LABELLED), now=300)
    store.write_version("c", prepare("c.md", ONE, valid_from=50), now=400)
    store.withdraw("c", "c.md", now=500, reason="wrong")
    return store


def prepare_template() -> str:
    from chunkprep_ingest.template import TEMPLATES

    return TEMPLATES["markdown"].to_json()


def audit(store: Store, *checks: str) -> list[Finding]:
    return list(store.audit("c", now=1_000, checks=checks or None))


def damage(store: Store, statement: sa.Executable) -> None:
    with store.database.write() as connection:
        assert connection.execute(statement).rowcount


def test_nothing_is_found_before(filled: Store) -> None:
    assert audit(filled) == []


COPIES: dict[str, Any] = {
    "access": "[]",
    "tags": "[]",
    "source": None,
    "authority": 99,
    "document": "z.md",
    "version": 7,
    "policy": "another",
    "profile": "profile-2",
    "stored_at": 1,
}


@pytest.mark.parametrize("column", COPIES)
def test_a_chunks_copy_of_its_versions_column(filled: Store, column: str) -> None:
    one = sa.and_(chunks.c.document == "b.md", chunks.c.ordinal == 1)
    damage(filled, chunks.update().where(one).values({column: COPIES[column]}))
    (found,) = audit(filled, "copies")
    assert (found.severity, found.document, found.version) == ("error", "b.md", 1)
    assert f"{column} of 1 chunks" in found.message
    assert "set" in found.remedy


VERSIONS: dict[str, Any] = {
    "access": "[]",
    "tags": '["free"]',
    "source": None,
    "authority": 99,
    "edition": "2030",
    "title": "Other",
    "valid_from": 7,
    "valid_to": 70_000,
    "review_by": 7,
}


@pytest.mark.parametrize("column", VERSIONS)
def test_a_versions_copy_of_its_metadata(filled: Store, column: str) -> None:
    only = sa.select(documents.c.id).where(documents.c.document == "b.md").scalar_subquery()
    value = {column: VERSIONS[column]}
    damage(filled, versions.update().where(versions.c.document_id == only).values(value))
    if column in COPIES:
        damage(filled, chunks.update().where(chunks.c.document == "b.md").values(value))
    (found,) = audit(filled, "copies")
    assert (found.document, found.version) == ("b.md", 1)
    assert column in found.message


def test_a_withdrawn_version_that_was_set_active(filled: Store) -> None:
    withdrawn = versions.c.closed_by == "hand"
    values = {"status": "active", "effective_to": None}
    damage(filled, versions.update().where(withdrawn).values(values))
    damage(filled, chunks.update().where(chunks.c.document == "c.md").values(values))
    found = audit(filled)
    assert {(f.check, f.document, f.version) for f in found} == {
        ("active_versions", "c.md", 1),
        ("effective_ranges", "c.md", 1),
    }
    assert "makes it withdrawn, closed by hand" in found[0].message


def test_a_range_that_its_dates_do_not_make(filled: Store) -> None:
    damage(filled, versions.update().where(versions.c.closed_by == "hand").values(effective_to=900))
    damage(filled, chunks.update().where(chunks.c.document == "c.md").values(effective_to=900))
    (found,) = audit(filled)
    assert (found.check, found.document) == ("effective_ranges", "c.md")


@pytest.mark.parametrize("number", [None, 1])
def test_a_document_that_names_another_version_as_current(
    filled: Store, number: int | None
) -> None:
    one = documents.c.document == "a.md"
    damage(filled, documents.update().where(one).values(current_version=number))
    (found,) = audit(filled)
    assert (found.check, found.document, found.version) == ("active_versions", "a.md", 2)
    assert f"current_version is {number}" in found.message


@pytest.mark.parametrize("gone", [(2, 4), (1, 1), (5, 100), (1, 100)])
def test_entries_of_the_change_feed_that_are_gone(filled: Store, gone: tuple[int, int]) -> None:
    last = max(change.cursor for change in filled.changes("c", since=0, limit=1000))
    damage(filled, changes.delete().where(changes.c.cursor.between(*gone)))
    (found,) = audit(filled)
    assert found.check == "change_feed"
    assert f"entries {gone[0]} to {min(gone[1], last)} of" in found.message


def test_pruning_and_erasing_leave_the_change_feed_whole(filled: Store) -> None:
    filled.prune("c", ended_before=1_000, now=1_000)
    filled.erase("c", "b.md", now=1_100)
    assert audit(filled) == []


def test_a_version_of_which_some_chunks_have_a_further_price(filled: Store) -> None:
    made = [FurtherPrice(row.chunk_id, 5, 2, 1, ()) for row in filled.chunks("c", "b.md")]
    filled.put_prices("c", "letters", "profile-1", made)
    assert audit(filled) == []
    row = sa.select(chunks.c.id).where(chunks.c.chunk_id == made[0].chunk_id).scalar_subquery()
    damage(filled, chunk_prices.delete().where(chunk_prices.c.chunk_row == row))
    (found,) = audit(filled)
    assert (found.check, found.severity, found.document) == ("profile_drift", "warning", "b.md")
    assert f"{len(made) - 1} of {len(made)} chunks have a price in letters" in found.message
