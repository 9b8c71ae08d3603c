"""A document and the one that supersedes it: no two in force at once, and no gap between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import sqlalchemy as sa

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Decided, Store
from chunkprep_store.succession import Moved
from chunkprep_store.tables import chunks, links, versions

Prepare = Callable[..., PreparedVersion]

OLD = "# Refunds\n\nRefunds take thirty days.\n\nBring the receipt."
NEW = "# Refunds\n\nRefunds take ten days.\n\nBring the receipt."
ON = 10_000


def in_force(store: Store, at: int) -> list[str]:
    return [d.document for d in store.documents("c", at=at)]


def findings(store: Store, now: int) -> list[tuple[str, str, str | None]]:
    found = store.audit("c", now=now)
    return [(f.check, f.severity, f.document) for f in found if f.severity != "info"]


@pytest.fixture
def announced(store: Store, prepare: Prepare) -> Store:
    """b.md in force, and c.md, which supersedes it from ON on."""
    store.write_version("c", prepare("b.md", OLD), now=100)
    store.write_version("c", prepare("c.md", NEW, valid_from=ON, supersedes="b.md"), now=200)
    return store


def withdraw_and_restore(store: Store, key: str, now: int) -> Decided:
    store.withdraw("c", key, now=now)
    return store.restore("c", key, now=now + 100)


def draft_and_release(store: Store, key: str, now: int) -> Decided:
    store.set_metadata("c", key, {"status": "draft"}, now=now)
    return store.set_metadata("c", key, {"status": "active"}, now=now + 100)


ROUND_TRIPS = pytest.mark.parametrize("round_trip", [withdraw_and_restore, draft_and_release])
RoundTrip = Callable[[Store, str, int], Decided]


@ROUND_TRIPS
@pytest.mark.parametrize("now", [300, ON + 300])
def test_a_round_trip_of_the_old_leaves_one_in_force(
    announced: Store, round_trip: RoundTrip, now: int
) -> None:
    decided = round_trip(announced, "b.md", now)
    assert (decided.status, decided.superseded_by) == ("superseded", "c.md")
    assert decided.effective_to == max(ON, now + 100 if now > ON else ON)
    assert in_force(announced, now + 200) == (["b.md"] if now < ON else ["c.md"])
    assert in_force(announced, 2 * ON) == ["c.md"]
    successors = {r.superseded_by for r in announced.chunks("c", "b.md")}
    assert successors == {r.chunk_id for r in announced.chunks("c", "c.md")}
    assert findings(announced, now + 200) == []


@ROUND_TRIPS
def test_a_round_trip_of_the_new_leaves_neither_gap_nor_overlap(
    announced: Store, round_trip: RoundTrip
) -> None:
    round_trip(announced, "c.md", 300)
    assert [in_force(announced, at) for at in (500, ON - 1, ON)] == [["b.md"], ["b.md"], ["c.md"]]
    assert findings(announced, 500) == []


def test_what_was_taken_back_and_comes_back_late_begins_then(announced: Store) -> None:
    announced.withdraw("c", "c.md", now=300)
    announced.restore("c", "c.md", now=ON + 500)
    assert [in_force(announced, at) for at in (ON, ON + 499, ON + 500)] == [
        ["b.md"], ["b.md"], ["c.md"],
    ]  # fmt: skip


def test_restore_refuses_what_another_document_declares(announced: Store) -> None:
    with pytest.raises(RequestError, match=r"superseded by c\.md from .*take `supersedes` out"):
        announced.restore("c", "b.md", now=ON + 300)
    announced.set_metadata("c", "c.md", {"supersedes": ""}, now=ON + 400)
    assert in_force(announced, ON + 450) == ["c.md"]
    assert announced.restore("c", "b.md", now=ON + 500).status == "active"
    assert in_force(announced, ON + 600) == ["b.md", "c.md"]


def test_an_earlier_text_of_the_old_holds_until_the_new_takes_over(
    announced: Store, prepare: Prepare
) -> None:
    announced.write_version("c", prepare("b.md", OLD + "\n\nMore."), now=300)
    decided = announced.restore("c", "b.md", version=1, now=400)
    assert (decided.version, decided.effective_to, decided.superseded_by) == (3, ON, "c.md")
    assert in_force(announced, ON) == ["c.md"]


def test_the_old_comes_back_once_the_new_was_in_force_and_is_withdrawn(announced: Store) -> None:
    announced.withdraw("c", "c.md", now=ON + 100)
    assert in_force(announced, ON + 200) == []
    assert announced.restore("c", "b.md", now=ON + 300).effective_to is None
    assert in_force(announced, ON + 300) == ["b.md"]


def take_back(store: Store, how: str, now: int) -> tuple[Moved, ...]:
    if how == "erase":
        return store.erase("c", "c.md", now=now).moved
    if how in ("withdraw", "sync"):
        by = "sync" if how == "sync" else "hand"
        return store.withdraw("c", "c.md", now=now, by=by).moved  # type: ignore[arg-type]
    field, _, value = how.partition("=")
    return store.set_metadata("c", "c.md", {field: value}, now=now).moved


HOW = ["withdraw", "sync", "erase", "status=draft", "status=withdrawn", "supersedes="]


@pytest.mark.parametrize("how", HOW)
def test_taken_back_before_its_day_the_old_is_open_again(announced: Store, how: str) -> None:
    cursor = announced.changes("c", 0, 1_000)[-1].cursor
    assert take_back(announced, how, 300) == (Moved("b.md", 1, None),)
    assert "b.md" in in_force(announced, ON)
    (old,) = announced.versions("c", "b.md")
    assert (old.status, old.effective_to, old.superseded_at) == ("active", None, None)
    assert [(e.field, e.old, e.new) for e in old.history][-1] == ("status", "superseded", "active")
    assert "c.md" in str(old.history[-1].reason)
    fed = {c.chunk_id for c in announced.changes("c", cursor, 1_000) if c.action == "upsert"}
    assert {r.chunk_id for r in announced.chunks("c", "b.md")} <= fed
    assert {r.superseded_by for r in announced.chunks("c", "b.md")} == {None}
    assert findings(announced, 400) == []


@pytest.mark.parametrize("how", HOW)
def test_taken_back_after_its_day_the_old_stays_ended(announced: Store, how: str) -> None:
    assert take_back(announced, how, ON + 100) == ()
    assert "b.md" not in in_force(announced, ON + 200)


def test_the_olds_own_end_still_holds(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("b.md", OLD, valid_to=2 * ON), now=100)
    store.write_version("c", prepare("c.md", NEW, valid_from=ON, supersedes="b.md"), now=200)
    assert store.withdraw("c", "c.md", now=300).moved == (Moved("b.md", 1, 2 * ON),)


def test_of_two_announced_the_other_remains(announced: Store, prepare: Prepare) -> None:
    later = prepare("d.md", NEW, valid_from=2 * ON, supersedes="b.md")
    announced.write_version("c", later, now=250)
    assert announced.withdraw("c", "c.md", now=300).moved == (Moved("b.md", 1, 2 * ON),)
    assert [in_force(announced, at) for at in (ON, 2 * ON)] == [["b.md"], ["d.md"]]


def test_a_draft_in_its_file_takes_back_too(announced: Store, prepare: Prepare) -> None:
    draft = prepare("c.md", NEW, valid_from=ON, supersedes="b.md", status="draft")
    announced.write_version("c", draft, now=300)
    assert in_force(announced, ON) == ["b.md"]
    released = prepare("c.md", NEW, valid_from=ON, supersedes="b.md")
    announced.write_version("c", released, now=400)
    assert [in_force(announced, at) for at in (ON - 1, ON)] == [["b.md"], ["c.md"]]


def test_a_next_edition_of_the_new_does_not_bring_the_old_back(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("b.md", OLD), now=100)
    store.write_version("c", prepare("c.md", NEW, supersedes="b.md"), now=200)
    later = prepare("c.md", NEW + " More.", valid_from=ON, supersedes="b.md")
    store.write_version("c", later, now=300)
    assert [in_force(store, at) for at in (400, ON)] == [["c.md"], ["c.md"]]


def test_an_older_edition_that_arrives_late_takes_nothing_back(
    announced: Store, prepare: Prepare
) -> None:
    announced.write_version("c", prepare("c.md", NEW + " Once.", valid_from=50), now=300)
    assert in_force(announced, ON) == ["c.md"]


def test_a_document_that_was_erased_can_be_superseded(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("b.md", OLD), now=100)
    store.erase("c", "b.md", now=150)
    store.write_version("c", prepare("c.md", NEW, supersedes="b.md"), now=200)
    assert in_force(store, 300) == ["c.md"]


@pytest.mark.parametrize("now", [300, ON + 300])
def test_the_old_erased_and_ingested_again_is_born_superseded(
    announced: Store, prepare: Prepare, now: int
) -> None:
    announced.erase("c", "b.md", now=now)
    announced.restore("c", "b.md", now=now + 100)
    announced.write_version("c", prepare("b.md", OLD), now=now + 200)
    assert in_force(announced, now + 300) == (["b.md"] if now < ON else ["c.md"])
    assert in_force(announced, 2 * ON) == ["c.md"]
    assert findings(announced, now + 300) == []


def test_the_old_erased_comes_back_where_the_new_was_taken_back_meanwhile(
    announced: Store, prepare: Prepare
) -> None:
    announced.withdraw("c", "c.md", now=ON + 300)
    announced.erase("c", "b.md", now=ON + 400)
    announced.restore("c", "b.md", now=ON + 500)
    announced.write_version("c", prepare("b.md", OLD), now=ON + 600)
    assert in_force(announced, ON + 700) == ["b.md"]
    assert findings(announced, ON + 700) == []


@pytest.mark.parametrize("declared", [True, False])
def test_of_links_by_hand_an_erasure_keeps_those_that_are_declared_since(
    store: Store, prepare: Prepare, declared: bool
) -> None:
    store.write_version("c", prepare("b.md", OLD), now=100)
    store.write_version("c", prepare("c.md", NEW), now=200)
    store.supersede("c", "b.md", "c.md", now=300)
    if declared:
        store.set_metadata("c", "c.md", {"supersedes": ["b.md"]}, now=400)
    store.erase("c", "b.md", now=500)
    store.restore("c", "b.md", now=600)
    store.write_version("c", prepare("b.md", OLD), now=700)
    assert in_force(store, 800) == (["c.md"] if declared else ["b.md", "c.md"])
    assert findings(store, 800) == []


@pytest.mark.parametrize("status", ["draft", "withdrawn"])
def test_a_version_announced_and_taken_back_leaves_no_gap(
    store: Store, prepare: Prepare, status: str
) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    store.write_version("c", prepare("a.md", NEW, valid_from=ON), now=200)
    decided = store.set_metadata("c", "a.md", {"status": status}, now=300)
    assert (decided.version, decided.status) == (2, status)
    if status == "withdrawn":
        assert [in_force(store, at) for at in (299, 300, ON)] == [["a.md"], [], []]
        return
    assert decided.moved == (Moved("a.md", 1, None),)
    assert [d.version for d in store.documents("c", at=ON)] == [1]
    assert findings(store, 400) == []
    store.set_metadata("c", "a.md", {"status": "active"}, now=500)
    assert [d.version for at in (ON - 1, ON) for d in store.documents("c", at=at)] == [1, 3]
    assert findings(store, 600) == []


def test_a_next_edition_asks_the_database_no_more_for_many_links_than_for_few(
    store: Store, prepare: Prepare
) -> None:
    """While it does so, every other writer waits."""
    asked = []
    for many in (2, 20):
        olds = [f"old-{many}-{n}.md" for n in range(many)]
        for key in olds:
            store.write_version("c", prepare(key, OLD), now=100)
        new = f"new-{many}.md"
        store.write_version("c", prepare(new, NEW, supersedes=olds), now=200)
        statements: list[str] = []
        note = partial(note_statement, statements)
        sa.event.listen(store.database.engine, "before_cursor_execute", note)
        store.write_version("c", prepare(new, NEW + " Once.", supersedes=olds), now=300)
        sa.event.remove(store.database.engine, "before_cursor_execute", note)
        asked.append(len(statements))
    assert asked[0] == asked[1]
    assert in_force(store, 400) == ["new-2.md", "new-20.md"]
    assert findings(store, 400) == []


def note_statement(statements: list[str], *args: object) -> None:
    statements.append(str(args[2]))


def test_a_next_edition_that_begins_earlier_moves_every_end(store: Store, prepare: Prepare) -> None:
    olds = [f"old-{n}.md" for n in range(3)]
    for key in olds:
        store.write_version("c", prepare(key, OLD), now=100)
    new = prepare("new.md", NEW, valid_from=ON, supersedes=olds)
    store.write_version("c", new, now=200)
    store.write_version("c", prepare("z.md", NEW, valid_from=600, supersedes=olds[0]), now=250)
    new = prepare("new.md", NEW + " Once.", valid_from=800, supersedes=olds)
    store.write_version("c", new, now=300)
    assert [in_force(store, at) for at in (599, 600, 800)] == [
        olds, [*olds[1:], "z.md"], ["new.md", "z.md"],
    ]  # fmt: skip
    assert findings(store, 400) == []


def damage(store: Store, *statements: sa.Executable) -> None:
    with store.database.write() as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount


@pytest.mark.parametrize("with_link", [True, False])
def test_the_audit_finds_two_in_force(announced: Store, with_link: bool) -> None:
    opened = {"status": "active", "effective_to": None}
    old = sa.select(chunks.c.version_id).where(chunks.c.document == "b.md").scalar_subquery()
    damage(
        announced,
        versions.update().where(versions.c.id.in_(old)).values(
            **opened, closes_at=None, closed_by=None
        ),
        chunks.update().where(chunks.c.document == "b.md").values(opened),
    )  # fmt: skip
    if not with_link:
        damage(announced, links.delete())
    assert findings(announced, 300) == [("effective_ranges", "error", "b.md")]
    announced.supersede("c", "b.md", "c.md", now=400)
    assert findings(announced, 500) == []
    assert in_force(announced, ON) == ["c.md"]


def test_the_audit_finds_an_end_for_nothing(announced: Store) -> None:
    before = announced.versions("c", "b.md")[0]
    announced.withdraw("c", "c.md", now=300)
    ended = {"status": "superseded", "effective_to": before.effective_to}
    old = sa.select(chunks.c.version_id).where(chunks.c.document == "b.md").scalar_subquery()
    damage(
        announced,
        versions.update().where(versions.c.id.in_(old)).values(
            **ended, closes_at=ON, closed_by="document:c.md"
        ),
        chunks.update().where(chunks.c.document == "b.md").values(ended),
    )  # fmt: skip
    assert findings(announced, 400) == [("effective_ranges", "warning", "b.md")]
    announced.restore("c", "b.md", now=500)
    assert findings(announced, 600) == []
    assert in_force(announced, ON) == ["b.md"]
