"""A text in other chunks: nothing that was decided of it changes, nor what was in force when."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import PackedChunk, PackRecord, Store

Prepare = Callable[..., PreparedVersion]

A = "# Refunds\n\nRefunds take ten days.\n\nBring a receipt."
B = "# Refunds\n\nRefunds take five days.\n\nBring a receipt."
RANGES = ("status", "effective_from", "effective_to", "valid_from")


def in_force(store: Store, at: int) -> list[tuple[str, int]]:
    return [(d.document, d.version) for d in store.documents("c", at=at)]


def standings(store: Store) -> list[tuple[object, ...]]:
    return [tuple(getattr(v, name) for name in RANGES) for v in store.versions("c", "a.md")]


def errors(store: Store, now: int) -> list[str]:
    return [f.message for f in store.audit("c", now=now) if f.severity == "error"]


def test_a_cut_by_ingest_divides_the_time_in_force(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A, valid_from=50), now=100)
    old = store.chunks("c", "a.md")
    again = store.write_version("c", prepare("a.md", A, valid_from=50, policy="p2"), now=200)
    assert (again.outcome, again.version, again.status) == ("updated", 2, "active")
    assert standings(store) == [("superseded", 50, 200, 50), ("active", 200, None, 50)]
    assert [in_force(store, at) for at in (49, 50, 199, 200)] == [
        [], [("a.md", 1)], [("a.md", 1)], [("a.md", 2)],
    ]  # fmt: skip
    new = store.chunks("c", "a.md")
    assert {row.held_from for row in new} == {50}
    kept = store.chunks("c", "a.md", 1)
    assert [r.text for r in kept] == [r.text for r in old]
    assert [r.superseded_by for r in kept] == [r.chunk_id for r in new]
    third = store.write_version("c", prepare("a.md", A, valid_from=50, policy="p3"), now=300)
    assert third.version == 3
    assert {row.held_from for row in store.chunks("c", "a.md")} == {50}
    assert errors(store, 400) == []
    assert store.write_version(
        "c", prepare("a.md", A, valid_from=50, policy="p3"), now=400
    ).outcome == ("unchanged")


def test_an_open_start_stays_open_for_the_first_cut(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=200)
    assert [s[:3] for s in standings(store)] == [("superseded", None, 200), ("active", 200, None)]
    assert {row.held_from for row in store.chunks("c", "a.md")} == {100}


@pytest.mark.parametrize(
    "metadata", [{"valid_to": 150}, {"status": "withdrawn"}], ids=["expired", "withdrawn"]
)
def test_what_is_out_of_force_is_not_cut_again(
    store: Store, prepare: Prepare, metadata: dict[str, object]
) -> None:
    store.write_version("c", prepare("a.md", A, **metadata), now=100)
    before = standings(store)
    assert store.open_versions("c", "a.md", at=200) == []
    cut = prepare("a.md", A, policy="p2", **metadata)
    assert store.recut("c", cut, version=1, now=200).outcome == "skipped"
    assert store.write_version("c", cut, now=200).outcome == "unchanged"
    assert standings(store) == before


@pytest.mark.parametrize("by", ["hand", "sync"])
def test_a_withdrawal_outlives_another_cap(store: Store, prepare: Prepare, by: str) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.withdraw("c", "a.md", now=150, by=by)  # type: ignore[arg-type]
    outcome = store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=200)
    assert (outcome.outcome, in_force(store, 300)) == ("skipped", [])
    back = store.write_version("c", prepare("a.md", A, policy="p2"), now=400)
    assert back.outcome == ("revived" if by == "sync" else "unchanged")


def test_a_draft_stays_one_and_the_version_in_force_too(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    draft = prepare("a.md", B, status="draft")
    store.write_version("c", draft, now=150)
    assert [v.version for v in store.open_versions("c", "a.md", at=200)] == [1, 2]
    store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=200)
    store.recut("c", prepare("a.md", B, policy="p2"), version=2, now=210)
    assert [v.status for v in store.versions("c", "a.md")] == [
        "superseded", "superseded", "active", "draft",
    ]  # fmt: skip
    assert in_force(store, 300) == [("a.md", 3)]
    same = prepare("a.md", B, status="draft", policy="p2")
    assert store.write_version("c", same, now=300).outcome == "unchanged"
    released = prepare("a.md", B, policy="p2")
    assert store.write_version("c", released, now=400).outcome == "metadata_only"
    assert [in_force(store, at) for at in (399, 400)] == [[("a.md", 3)], [("a.md", 4)]]
    assert errors(store, 500) == []


def test_an_announced_version_is_cut_beside_the_one_in_force(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.write_version("c", prepare("a.md", B, valid_from=1_000), now=150)
    for number, text in ((1, A), (2, B)):
        store.recut("c", prepare("a.md", text, policy="p2"), version=number, now=200)
    at = (199, 300, 999, 1_000)
    assert [in_force(store, moment)[0][1] for moment in at] == [1, 3, 3, 4]
    assert errors(store, 500) == []


def test_the_last_arrival_is_known_though_an_older_text_was_cut(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A, valid_from=500), now=600)
    late = prepare("a.md", B, valid_from=50)
    store.write_version("c", late, now=700)
    store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=800)
    assert store.write_version("c", late, now=900).outcome == "unchanged"
    assert in_force(store, 900) == [("a.md", 3)]


def test_what_was_set_by_hand_goes_along_with_its_history(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    fields = {"authority": "9", "valid_to": 5_000, "valid_from": 40}
    store.set_metadata("c", "a.md", fields, now=150, reason="board")
    store.write_version("c", prepare("a.md", A, policy="p2"), now=200)
    new = store.versions("c", "a.md")[-1]
    assert (new.authority, new.effective_from, new.effective_to) == (9, 200, 5_000)
    assert (new.valid_from, new.valid_to) == (40, 5_000)
    assert {e.field for e in new.history} == {"authority", "valid_from", "valid_to"}
    assert {e.reason for e in new.history} == {"board"}
    store.set_metadata("c", "a.md", {"valid_to": 120}, now=300)
    assert [s[1:3] for s in standings(store)] == [(40, 120), (120, 120)]
    assert errors(store, 400) == []
    store.set_metadata("c", "a.md", {"valid_to": None, "valid_from": 30}, now=400)
    assert {r.held_from for r in store.chunks("c", "a.md")} == {30}


def test_a_restored_text_stays_under_another_cap(store: Store, prepare: Prepare) -> None:
    for now, text in ((100, A), (200, B)):
        store.write_version("c", prepare("a.md", text), now=now)
    store.restore("c", "a.md", version=1, now=300)
    assert store.write_version("c", prepare("a.md", B, policy="p2"), now=400).outcome == (
        "unchanged"
    )
    store.recut("c", prepare("a.md", A, policy="p2"), version=3, now=500)
    assert store.write_version("c", prepare("a.md", B, policy="p2"), now=600).outcome == (
        "unchanged"
    )
    assert store.parsed("c", "a.md").text == A
    assert [in_force(store, at)[0][1] for at in (150, 250, 350, 550)] == [1, 2, 3, 4]


def test_a_superseded_document_stays_so(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    store.write_version("c", prepare("b.md", B, supersedes="a.md", valid_from=1_000), now=150)
    store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=200)
    assert [in_force(store, at)[0] for at in (150, 300, 999, 1_000)] == [
        ("a.md", 1), ("a.md", 2), ("a.md", 2), ("b.md", 1),
    ]  # fmt: skip
    assert store.versions("c", "a.md")[-1].status == "superseded"
    after = {r.superseded_by for r in store.chunks("c", "a.md")}
    assert after == {r.chunk_id for r in store.chunks("c", "b.md")}
    assert errors(store, 500) == []


def test_packs_of_a_text_that_was_only_cut_again_are_not_listed(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", A), now=100)
    used = PackedChunk(store.chunks("c", "a.md")[0].chunk_id, 0)
    store.write_packs("c", [PackRecord("r", 150, 150, "words", 9, 5, "{}", "{}", (), (used,))])
    store.recut("c", prepare("a.md", A, policy="p2"), version=1, now=200)
    assert list(store.audit("c", now=300, checks=["served_stale"])) == []
    store.write_version("c", prepare("a.md", B, policy="p2"), now=10**8)
    assert [f.severity for f in store.audit("c", now=10**9, checks=["served_stale"])] == ["info"]
