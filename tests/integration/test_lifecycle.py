"""Supersession by another document, withdrawal, restoring, metadata by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from chunkprep_ingest.errors import MetadataError, NotFoundError, RequestError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]

OLD = "# Refunds\n\nRefunds take thirty days.\n\nBring the receipt."
NEW = "# Refunds\n\nRefunds take ten days.\n\nBring the receipt."
ON = 10_000


def in_force(store: Store, at: int) -> list[tuple[str, int]]:
    return [(d.document, d.version) for d in store.documents("c", at=at)]


def test_a_document_that_supersedes_another_ends_it(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("2019.md", OLD), now=100)
    store.write_version("c", prepare("2024.md", NEW, supersedes="2019.md"), now=200)
    (old,) = store.versions("c", "2019.md")
    assert (old.status, old.effective_to, old.reason) == (
        "superseded", 200, "superseded by 2024.md",
    )  # fmt: skip
    assert in_force(store, 300) == [("2024.md", 1)]
    new = [r.chunk_id for r in store.chunks("c", "2024.md")]
    assert [r.superseded_by for r in store.chunks("c", "2019.md")] == new


def test_it_ends_with_effect_from_the_successors_date(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("2019.md", OLD), now=100)
    new = prepare("2024.md", NEW, supersedes="2019.md", valid_from=ON)
    store.write_version("c", new, now=200)
    assert in_force(store, ON - 1) == [("2019.md", 1)]
    assert in_force(store, ON) == [("2024.md", 1)]


def test_a_link_follows_a_date_that_moves(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("2019.md", OLD), now=100)
    for now, start in ((200, ON), (300, 2 * ON)):
        new = prepare("2024.md", NEW, supersedes="2019.md", valid_from=start)
        store.write_version("c", new, now=now)
    assert in_force(store, 2 * ON - 1) == [("2019.md", 1)]
    assert in_force(store, 2 * ON) == [("2024.md", 1)]


def test_a_link_to_a_document_not_yet_here_applies_when_it_arrives(
    store: Store, prepare: Prepare
) -> None:
    new = prepare("2024.md", NEW, supersedes="2019.md", valid_from=ON)
    store.write_version("c", new, now=100)
    assert [d.document for d in store.documents("c")] == ["2024.md"]
    assert store.known("c", ["2019.md"])["2019.md"].version is None
    outcome = store.write_version("c", prepare("2019.md", OLD), now=ON + 500)
    assert (outcome.outcome, outcome.status) == ("new", "superseded")
    assert in_force(store, ON - 1) == [("2019.md", 1)]
    assert in_force(store, ON + 600) == [("2024.md", 1)]
    successors = {r.superseded_by for r in store.chunks("c", "2019.md")}
    assert successors == {r.chunk_id for r in store.chunks("c", "2024.md")}


def test_a_new_version_of_a_superseded_document_is_born_superseded(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("2019.md", OLD), now=100)
    store.write_version("c", prepare("2024.md", NEW, supersedes="2019.md"), now=200)
    outcome = store.write_version("c", prepare("2019.md", OLD + "\n\nMore."), now=300)
    assert (outcome.outcome, outcome.status) == ("updated", "superseded")
    assert in_force(store, 400) == [("2024.md", 1)]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_cycle_is_bad_metadata(store: Store, prepare: Prepare, length: int) -> None:
    store.start_run("c", now=1)
    names = [f"{n}.md" for n in range(length)]
    for name, older in pairwise(names):
        store.write_version("c", prepare(name, NEW, supersedes=older), now=100)
    with pytest.raises(MetadataError, match="supersede"):
        store.write_version("c", prepare(names[-1], OLD, supersedes=names[0]), now=200)
    assert len(list(store.documents("c"))) == length - 1


def test_the_command_supersedes_from_now_or_from_the_named_date(
    store: Store, prepare: Prepare
) -> None:
    for name, metadata in (("a.md", {}), ("b.md", {}), ("d.md", {"valid_from": ON})):
        store.write_version("c", prepare(name, OLD, **metadata), now=100)
    decided = store.supersede("c", "a.md", "b.md", now=500, reason="merged")
    assert decided == ("a.md", 1, "superseded", None, 500, "b.md", ())
    assert store.versions("c", "a.md")[0].reason == "merged"
    assert store.supersede("c", "b.md", "d.md", now=600).effective_to == ON
    with pytest.raises(MetadataError):
        store.supersede("c", "d.md", "a.md", now=700)
    with pytest.raises(NotFoundError, match=r"nope\.md"):
        store.supersede("c", "nope.md", "a.md", now=700)


def test_withdrawn_by_hand_and_seen_again_stays_withdrawn(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    decided = store.withdraw("c", "a.md", now=200, reason="wrong")
    assert decided[:5] == ("a.md", 1, "withdrawn", None, 200)
    assert store.write_version("c", prepare("a.md", OLD), now=300).outcome == "unchanged"
    outcome = store.write_version("c", prepare("a.md", NEW), now=400)
    assert (outcome.outcome, outcome.status) == ("updated", "withdrawn")
    assert in_force(store, 500) == []
    assert in_force(store, 150) == [("a.md", 1)]


def test_withdrawn_by_sync_and_seen_again_revives(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    store.withdraw("c", "a.md", now=200, reason="gone", by="sync")
    outcome = store.write_version("c", prepare("a.md", OLD), now=300)
    assert (outcome.outcome, outcome.version, outcome.status) == ("revived", 2, "active")
    assert [in_force(store, at) for at in (150, 250, 350)] == [[("a.md", 1)], [], [("a.md", 2)]]
    assert store.write_version("c", prepare("a.md", OLD), now=400).outcome == "unchanged"


def test_a_withdrawal_ends_a_predecessor_that_still_holds(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    store.write_version("c", prepare("a.md", NEW, valid_from=ON), now=200)
    store.withdraw("c", "a.md", now=300)
    assert [in_force(store, at) for at in (299, 300, ON)] == [[("a.md", 1)], [], []]


def test_restore_is_a_new_version_with_the_old_content(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD, valid_to=150), now=100)
    before = store.chunks("c", "a.md")
    store.withdraw("c", "a.md", now=200)
    decided = store.restore("c", "a.md", now=300, reason="needed after all")
    assert decided[:5] == ("a.md", 2, "active", 300, None)
    after = store.chunks("c", "a.md")
    assert [r.text for r in after] == [r.text for r in before]
    assert not {r.chunk_id for r in after} & {r.chunk_id for r in before}
    assert store.parsed("c", "a.md").text == OLD
    assert store.search("c", "refunds", top=1, at=400)[0].chunk_id in {r.chunk_id for r in after}
    again = store.write_version("c", prepare("a.md", OLD, valid_to=150), now=400)
    assert again.outcome == "unchanged"


def test_restoring_an_earlier_version_holds_until_the_source_changes(
    store: Store, prepare: Prepare
) -> None:
    for now, text in ((100, OLD), (200, NEW)):
        store.write_version("c", prepare("a.md", text), now=now)
    with pytest.raises(RequestError, match="in force"):
        store.restore("c", "a.md", now=300)
    store.restore("c", "a.md", version=1, now=300)
    assert store.parsed("c", "a.md").text == OLD
    assert store.write_version("c", prepare("a.md", NEW), now=400).outcome == "unchanged"
    outcome = store.write_version("c", prepare("a.md", NEW + " More."), now=500)
    assert (outcome.outcome, outcome.version) == ("updated", 4)


def test_restore_undoes_a_supersession_by_hand(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    store.write_version("c", prepare("b.md", NEW), now=100)
    store.supersede("c", "a.md", "b.md", now=200)
    assert store.restore("c", "a.md", now=300).status == "active"
    assert in_force(store, 400) == [("a.md", 2), ("b.md", 1)]
    assert in_force(store, 250) == [("b.md", 1)]


def test_metadata_by_hand_outlives_the_source_where_it_should(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", OLD, authority=1), now=100)
    store.set_metadata(
        "c", "a.md", {"access": "staff", "authority": "9", "valid_to": 5_000}, now=200, reason="why"
    )
    (version,) = store.versions("c", "a.md")
    assert (version.access, version.authority, version.effective_to) == (("staff",), 9, 5_000)
    assert {e.reason for e in version.history} == {"why"}
    assert store.write_version("c", prepare("a.md", OLD, authority=1), now=300).outcome == (
        "unchanged"
    )
    store.write_version("c", prepare("a.md", NEW, authority=2), now=400)
    after = store.versions("c", "a.md")[-1]
    assert (after.access, after.authority, after.effective_to) == (("staff",), 2, 5_000)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"titel": "x"}, RequestError),
        ({"title": "x"}, RequestError),
        ({"authority": 101}, MetadataError),
        ({"valid_to": "soon"}, MetadataError),
        ({}, MetadataError),
    ],
)
def test_a_wrong_field_is_refused_and_changes_nothing(
    store: Store, prepare: Prepare, fields: dict[str, object], error: type[Exception]
) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    before = store.versions("c", "a.md")
    with pytest.raises(error):
        store.set_metadata("c", "a.md", fields, now=200)
    assert store.versions("c", "a.md") == before


def test_supersedes_by_hand(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    store.write_version("c", prepare("b.md", NEW), now=100)
    store.set_metadata("c", "b.md", {"supersedes": "a.md"}, now=200)
    assert in_force(store, 300) == [("b.md", 1)]


def test_metadata_withdraws_and_takes_back(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", OLD), now=100)
    gone = store.write_version("c", prepare("a.md", OLD, status="withdrawn"), now=200)
    assert (gone.outcome, in_force(store, 250)) == ("metadata_only", [])
    back = store.write_version("c", prepare("a.md", OLD), now=300)
    assert (back.outcome, in_force(store, 350)) == ("revived", [("a.md", 2)])


def test_unknown_documents_are_named(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("b.md", NEW, supersedes="a.md"), now=100)
    for call in (store.withdraw, store.restore):
        with pytest.raises(NotFoundError, match=r"a\.md"):
            call("c", "a.md", now=200)
