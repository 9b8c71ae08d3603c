"""An audit that met a row which it cannot read says so, whatever it was asked, and goes on."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest
import sqlalchemy as sa
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_store import Finding, Store
from chunkprep_store.tables import elements, policies, profiles, versions

Prepare = Callable[..., PreparedVersion]
NOW = 1_700_000_000_000_000


def damage(store: Store, statement: sa.Executable) -> None:
    with store.database.write() as connection:
        assert connection.execute(statement).rowcount


def audit(store: Store, collection: str, *checks: str, **options: Any) -> list[Finding]:
    return list(store.audit(collection, now=NOW + 100, checks=checks or None, **options))


@pytest.fixture
def cut(store: Store, prepare: Prepare) -> Store:
    """a.md with two versions, and b.md."""
    store.write_version("c", prepare("a.md", "One."), now=100)
    store.write_version("c", prepare("a.md", "Two."), now=200)
    store.write_version("c", prepare("b.md", "Three."), now=300)
    return store


@pytest.mark.parametrize(
    "check", ["unreadable", "active_versions", "effective_ranges", "copies", "successors"]
)
@pytest.mark.parametrize("origin", ["recut:77", "recut:x"])
def test_a_standing_that_cannot_be_told_is_told_by_each_check_of_it(
    cut: Store, check: str, origin: str
) -> None:
    damage(cut, versions.update().where(versions.c.version == 2).values(origin=origin))
    (found,) = audit(cut, "c", check)
    assert (found.check, found.severity) == (check, "error")
    assert "a.md" in (found.document or "") + found.message


@pytest.mark.parametrize("check", ["unreadable", "copies"])
@pytest.mark.parametrize("column", ["metadata", "source_metadata", "rendered", "warnings"])
def test_a_row_whose_columns_were_not_compared_is_told(cut: Store, check: str, column: str) -> None:
    damage(cut, versions.update().where(versions.c.version == 2).values({column: "{x"}))
    (found,) = audit(cut, "c", check)
    assert (found.check, found.severity, found.document, found.version) == (
        check, "error", "a.md", 2,
    )  # fmt: skip
    assert column in found.message


def test_one_document_that_cannot_be_judged_leaves_the_others_to_be(cut: Store) -> None:
    damage(cut, versions.update().where(versions.c.version == 2).values(origin="recut:77"))
    alone = sa.select(versions.c.id).where(versions.c.stored_at == 300).scalar_subquery()
    damage(cut, versions.update().where(versions.c.id == alone).values(effective_to=900))
    found = audit(cut, "c", "effective_ranges")
    assert ("effective_ranges", "b.md") in {(f.check, f.document) for f in found}


def test_metadata_that_a_documents_successor_goes_by_is_named(cut: Store, prepare: Prepare) -> None:
    cut.write_version("c", prepare("n.md", "New.", supersedes=["b.md"]), now=400)
    newest = sa.select(sa.func.max(versions.c.id)).scalar_subquery()
    damage(cut, versions.update().where(versions.c.id == newest).values(metadata="{x"))
    stopped = [f for f in audit(cut, "c", "effective_ranges") if "stopped" in f.message]
    assert [(f.check, "n.md" in f.message) for f in stopped] == [("effective_ranges", True)]


@pytest.fixture
def real(store: Store) -> Store:
    """Two documents as an ingest stores them."""
    ingest(store, "a.md", "# A\n\nOne two three. Four five.\n\n- x\n- y\n", now=NOW)
    ingest(store, "b.md", "# B\n\nOne two three. Four five.\n", now=NOW)
    assert chunk_ids(store, "b.md")
    return store


def recount(store: Store, *checks: str) -> list[Finding]:
    return audit(store, "default", *checks, recount="all", counters=tiktoken_counter)


COLUMNS = [(name, "{x") for name in ("rendered", "missing", "warnings")]
COLUMNS += [("warnings", "7"), ("missing", "7"), ("rendered", "7"), ("rendered", "[]")]


@pytest.mark.parametrize(("column", "value"), COLUMNS)
def test_a_recount_goes_on_after_a_damaged_column(real: Store, column: str, value: str) -> None:
    first = sa.select(sa.func.min(versions.c.id)).scalar_subquery()
    damage(real, versions.update().where(versions.c.id == first).values({column: value}))
    damage(real, versions.update().where(versions.c.id > first).values(inputs="wrong"))
    found = recount(real, "remade")
    assert [(f.check, f.severity, f.document) for f in found] == [
        ("remade", "error", "a.md"),
        ("remade", "error", "b.md"),
    ]
    assert "unreadable" in {f.check for f in recount(real)}


DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "a short element": lambda stored: stored.update(elements=[[1]]),
    "no list": lambda stored: stored.update(elements=3),
    "an unknown kind": lambda stored: stored["elements"][0].__setitem__(0, "zzz"),
    "out of range": lambda stored: stored["elements"][0].__setitem__(2, 9**9),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_recount_goes_on_after_a_damaged_element(real: Store, kind: str) -> None:
    first = sa.select(sa.func.min(versions.c.id)).scalar_subquery()
    with real.database.snapshot() as connection:
        payload = sa.select(elements.c.payload).where(elements.c.version_id == first)
        stored = orjson.loads(zlib.decompress(connection.execute(payload).scalar_one()))
    DAMAGE[kind](stored)
    packed = zlib.compress(orjson.dumps(stored))
    damage(real, elements.update().where(elements.c.version_id == first).values(payload=packed))
    (found,) = recount(real, "remade")
    assert (found.severity, found.document) == ("error", "a.md")


@pytest.mark.parametrize("table", [policies, profiles])
def test_settings_that_cannot_be_read_are_told_by_the_recount_alone(
    real: Store, table: sa.Table
) -> None:
    column = "settings" if table is policies else "template"
    damage(real, table.update().values({column: "{x"}))
    found = recount(real, "remade")
    assert [(f.check, f.severity) for f in found] == [("remade", "error")]
    told = [f.message for f in recount(real) if f.severity == "error"]
    assert len([one for one in told if "were not made again" in one]) == 0
    assert told
