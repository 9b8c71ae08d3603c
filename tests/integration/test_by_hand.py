"""What was set by hand holds until it is set again, or the source changes that very field."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import out_of_force_reason
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]

A = "# Refunds\n\nRefunds take ten days.\n\nBring a receipt."
B = "# Refunds\n\nRefunds take five days.\n\nBring a receipt."


def in_force(store: Store, at: int) -> list[int]:
    return [d.version for d in store.documents("c", at=at)]


def standing(store: Store) -> tuple[int, str]:
    (info,) = store.documents("c")
    return info.version, info.status


def test_a_draft_by_hand_shows_as_one_and_was_in_force_before(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    ids = [r.chunk_id for r in store.chunks("c", "a.md")]
    decided = store.set_metadata("c", "a.md", {"status": "draft"}, now=200, reason="unsure")
    assert (decided.version, decided.status) == (1, "draft")
    assert [in_force(store, at) for at in (199, 200)] == [[1], []]
    rows = store.lookup("c", ids, at=300).rows
    reasons = {out_of_force_reason(r.status, r.effective_from, r.effective_to, 300) for r in rows}
    assert ({r.status for r in rows}, reasons) == ({"draft"}, {"draft"})
    assert {c.action for c in store.changes("c", 3)} == {"remove"}
    assert store.search("c", "refunds", top=5, at=300) == []
    assert len(store.search("c", "refunds", top=5, at=150)) == 3
    assert [f for f in store.audit("c", now=300) if f.severity == "error"] == []


@pytest.mark.parametrize("status", ["draft", "withdrawn"])
def test_an_edit_of_the_file_does_not_undo_it(store: Store, prepare: Prepare, status: str) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.set_metadata("c", "a.md", {"status": status}, now=200)
    assert store.write_version("c", prepare("a.md", A), now=250).outcome == "unchanged"
    tagged = store.write_version("c", prepare("a.md", A, tags="x"), now=260)
    assert (tagged.outcome, standing(store)) == ("metadata_only", (1, status))
    edited = store.write_version("c", prepare("a.md", B, tags="x"), now=300)
    assert (edited.outcome, edited.status) == ("updated", status)
    assert standing(store) == (2, status)
    assert in_force(store, 400) == []
    assert in_force(store, 150) == [1]


def test_a_draft_by_hand_is_released_by_hand(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A, authority=3), now=100)
    store.set_metadata("c", "a.md", {"status": "draft"}, now=200)
    decided = store.set_metadata("c", "a.md", {"status": "active", "authority": "7"}, now=300)
    assert (decided.version, decided.status, decided.effective_from) == (2, "active", 300)
    assert store.versions("c", "a.md")[-1].authority == 7
    assert [in_force(store, at) for at in (150, 250, 300)] == [[1], [], [2]]
    assert store.write_version("c", prepare("a.md", A, authority=3), now=400).outcome == (
        "unchanged"
    )
    assert [f for f in store.audit("c", now=500) if f.severity == "error"] == []


def test_an_edited_draft_by_hand_is_released_in_place(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.set_metadata("c", "a.md", {"status": "draft"}, now=200)
    store.write_version("c", prepare("a.md", B), now=300)
    assert store.set_metadata("c", "a.md", {"status": "active"}, now=400).version == 2
    assert [in_force(store, at) for at in (150, 250, 350, 400)] == [[1], [], [], [2]]


def test_a_field_that_the_file_changes_is_the_files_again(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A, authority=1), now=100)
    fields = {"authority": "9", "valid_to": 5_000, "edition": "2", "status": "draft"}
    store.set_metadata("c", "a.md", fields, now=200)
    store.write_version("c", prepare("a.md", B, authority=1), now=300)
    (kept,) = store.documents("c")
    assert (kept.authority, kept.valid_to, kept.edition) == (9, 5_000, "2")
    store.write_version("c", prepare("a.md", B, authority=2, valid_to=7_000), now=400)
    (after,) = store.documents("c")
    assert (after.authority, after.valid_to, after.edition) == (2, 7_000, "2")
    assert after.status == "draft"
    gone = store.write_version("c", prepare("a.md", B, status="withdrawn"), now=500)
    assert (gone.status, standing(store)) == ("withdrawn", (2, "withdrawn"))


def test_the_file_makes_a_draft_and_takes_it_back(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.write_version("c", prepare("a.md", A, status="draft"), now=200)
    assert standing(store) == (1, "draft")
    assert store.write_version("c", prepare("a.md", A), now=300).outcome == "revived"
    assert [in_force(store, at) for at in (150, 250, 350)] == [[1], [], [2]]


def test_set_on_the_version_in_force_holds_for_its_draft_successor(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.write_version("c", prepare("a.md", B, status="draft"), now=200)
    store.set_metadata("c", "a.md", {"authority": "9"}, now=300)
    store.write_version("c", prepare("a.md", B), now=400)
    (released,) = store.documents("c")
    assert (released.version, released.authority) == (2, 9)


def test_restore_brings_a_hand_set_draft_back_but_no_unreleased_one(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.set_metadata("c", "a.md", {"status": "draft"}, now=200)
    assert store.restore("c", "a.md", now=300).status == "active"
    store.write_version("c", prepare("b.md", A, status="draft"), now=300)
    with pytest.raises(RequestError, match="a draft"):
        store.restore("c", "b.md", now=400)
