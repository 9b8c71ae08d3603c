"""Writing versions: outcomes, one version in force, deterministic ids."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from chunkprep_ingest.errors import StoreError
from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store, WriteOutcome
from chunkprep_store.tables import chunks, versions

Prepare = Callable[..., PreparedVersion]

A = "# Refunds\n\nRefunds take ten days. Ask us.\n\nBring a receipt."
B = "# Refunds\n\nRefunds take five days. Ask us.\n\nBring a receipt."
C = "# Refunds\n\nRefunds are not given."


def write(store: Store, prepared: PreparedVersion, now: int) -> WriteOutcome:
    return store.write_version("c", prepared, now=now)


def ids(store: Store, document: str = "a.md", version: int | None = None) -> list[str]:
    return [row.chunk_id for row in store.chunks("c", document, version)]


def test_a_first_version_is_new_active_and_open(store: Store, prepare: Prepare) -> None:
    outcome = write(store, prepare("a.md", A), 100)
    assert outcome[:4] == ("a.md", 1, "new", 3)
    (only,) = store.versions("c", "a.md")
    assert (only.status, only.effective_from, only.effective_to) == ("active", None, None)
    assert only.tokens == outcome.tokens == sum(r.block_tokens for r in store.chunks("c", "a.md"))


def test_the_same_again_writes_nothing(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    before = store.versions("c", "a.md"), store.chunks("c", "a.md")
    assert write(store, prepare("a.md", A), 200).outcome == "unchanged"
    assert (store.versions("c", "a.md"), store.chunks("c", "a.md")) == before


def test_a_changed_text_supersedes_in_the_same_transaction(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    old = ids(store)
    assert write(store, prepare("a.md", B), 200)[:3] == ("a.md", 2, "updated")
    one, two = store.versions("c", "a.md")
    assert (one.status, one.effective_to, one.superseded_at) == ("superseded", 200, 200)
    assert (two.status, two.effective_from, two.effective_to) == ("active", 200, None)
    new = ids(store)
    rows = {r.chunk_id: r for r in store.lookup("c", old, at=300).rows}
    assert [rows[i].superseded_by for i in old] == new
    assert {r.status for r in rows.values()} == {"superseded"}


def test_removed_text_is_in_force_no_more(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    old = ids(store)
    write(store, prepare("a.md", C), 200)
    now = [
        r.chunk_id
        for r in store.lookup("c", [*old, *ids(store)], at=300).rows
        if in_force(r.status, r.effective_from, r.effective_to, 300)
    ]
    assert sorted(now) == sorted(ids(store))


def test_a_b_a_gives_three_versions_with_three_sets_of_ids(store: Store, prepare: Prepare) -> None:
    for now, text in enumerate((A, B, A), start=1):
        assert write(store, prepare("a.md", text), now * 100).version == now
    sets = [set(ids(store, version=v)) for v in (1, 2, 3)]
    assert not sets[0] & sets[1]
    assert not sets[0] & sets[2]
    assert [v.status for v in store.versions("c", "a.md")] == ["superseded", "superseded", "active"]


def test_ids_do_not_depend_on_other_documents_or_on_time(store: Store, prepare: Prepare) -> None:
    write(store, prepare("b.md", A), 5)
    write(store, prepare("a.md", A), 100)
    first = ids(store)
    with_other_clock = store.write_version("d", prepare("a.md", A), now=7_000)
    assert with_other_clock.outcome == "new"
    other = [r.chunk_id for r in store.chunks("d", "a.md")]
    assert first != other  # collections isolate
    assert ids(store) == first


def test_equal_texts_are_two_documents(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a/readme.md", A), 100)
    write(store, prepare("b/readme.md", A), 100)
    assert [d.document for d in store.documents("c")] == ["a/readme.md", "b/readme.md"]
    assert not set(ids(store, "a/readme.md")) & set(ids(store, "b/readme.md"))


def test_a_field_that_no_header_shows_keeps_ids_and_costs(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    before = store.chunks("c", "a.md")
    changed = prepare("a.md", A, authority=7, access="staff, legal", review_by="2030-01-01")
    outcome = write(store, changed, 200)
    assert (outcome.outcome, outcome.version, outcome.chunks) == ("metadata_only", 1, 0)
    after = store.chunks("c", "a.md")
    assert [(r.chunk_id, r.block_tokens) for r in after] == [
        (r.chunk_id, r.block_tokens) for r in before
    ]
    assert {(r.authority, r.access) for r in after} == {(7, '["staff","legal"]')}
    (version,) = store.versions("c", "a.md")
    assert {(e.field, e.old, e.new) for e in version.history if e.field == "authority"} == {
        ("authority", "0", "7")
    }


def test_the_title_makes_a_new_version(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    assert write(store, prepare("a.md", A, title="Other"), 200)[:3] == ("a.md", 2, "updated")


@pytest.mark.parametrize("what", ["policy", "profile", "reader"])
def test_another_fingerprint_makes_a_new_version(store: Store, prepare: Prepare, what: str) -> None:
    write(store, prepare("a.md", A), 100)
    assert write(store, prepare("a.md", A, **{what: "other"}), 200).outcome == "updated"


def test_an_announced_version_leaves_its_predecessor_in_force_until_then(
    store: Store, prepare: Prepare
) -> None:
    write(store, prepare("a.md", A), 100)
    write(store, prepare("a.md", B, valid_from=1_000), 200)
    one, two = store.versions("c", "a.md")
    assert (one.status, one.effective_to) == ("superseded", 1_000)
    assert (two.status, two.effective_from) == ("active", 1_000)
    assert [v.version for v in store.documents("c", at=999)] == [1]
    assert [v.version for v in store.documents("c", at=1_000)] == [2]


def test_a_third_version_overtakes_an_announced_one(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    write(store, prepare("a.md", B, valid_from=1_000), 200)
    write(store, prepare("a.md", C), 300)
    ranges = [(v.effective_from, v.effective_to) for v in store.versions("c", "a.md")]
    assert ranges == [(None, 300), (1_000, 1_000), (300, None)]


def test_an_older_edition_that_arrives_late_replaces_nothing(
    store: Store, prepare: Prepare
) -> None:
    write(store, prepare("a.md", A, valid_from=2_000), 100)
    outcome = write(store, prepare("a.md", B, valid_from=1_000), 5_000)
    assert (outcome.outcome, outcome.status) == ("updated", "superseded")
    new, late = store.versions("c", "a.md")
    assert (new.status, new.effective_from) == ("active", 2_000)
    assert (late.effective_from, late.effective_to) == (1_000, 2_000)
    assert ids(store) == ids(store, version=1)
    assert store.chunks("c", "a.md", 2)[0].superseded_by in ids(store)
    assert write(store, prepare("a.md", B, valid_from=1_000), 6_000).outcome == "unchanged"


def test_a_corrected_text_with_its_old_date_does_not_rewrite_the_past(
    store: Store, prepare: Prepare
) -> None:
    write(store, prepare("a.md", A, valid_from=50), 100)
    write(store, prepare("a.md", B, valid_from=50), 200)
    ranges = [(v.effective_from, v.effective_to) for v in store.versions("c", "a.md")]
    assert ranges == [(50, 200), (200, None)]


def test_a_clock_that_steps_back_retires_nothing(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    write(store, prepare("a.md", B), 200)
    write(store, prepare("a.md", C), 50)
    for at in range(40, 300, 10):
        assert len(list(store.documents("c", at=at))) == 1
    stored = [v.ingested_at for v in store.versions("c", "a.md")]
    assert stored == sorted(stored)


def test_all_chunks_of_a_version_carry_one_moment(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    assert {r.stored_at for r in store.chunks("c", "a.md")} == {100}


def test_a_draft_is_not_in_force_until_released(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    write(store, prepare("a.md", B, status="draft"), 200)
    assert [v.version for v in store.documents("c", at=250)] == [1]
    assert write(store, prepare("a.md", B, status="draft"), 260).outcome == "unchanged"
    assert write(store, prepare("a.md", B, status="active"), 300).outcome == "metadata_only"
    one, two = store.versions("c", "a.md")
    assert (one.status, one.effective_to) == ("superseded", 300)
    assert (two.status, two.effective_from) == ("active", 300)
    assert store.chunks("c", "a.md", 1)[0].superseded_by in ids(store)


def test_lost_chunk_rows_are_healed_with_the_same_ids(store: Store, prepare: Prepare) -> None:
    write(store, prepare("a.md", A), 100)
    before = store.chunks("c", "a.md")
    with store.database.write() as connection:
        connection.execute(chunks.delete().where(chunks.c.ordinal == 1))
    assert not store.known("c", ["a.md"])["a.md"].whole
    outcome = write(store, prepare("a.md", A), 200)
    assert (outcome.outcome, outcome.version, outcome.chunks) == ("updated", 1, 1)
    assert store.chunks("c", "a.md") == before
    assert store.known("c", ["a.md"])["a.md"].whole


def test_a_rejected_row_leaves_nothing_behind(store: Store, prepare: Prepare) -> None:
    good = prepare("a.md", A)
    bad = prepare("b.md", A)
    twice = bad.chunks[0]
    broken = type(bad)(
        **{n: getattr(bad, n) for n in bad.__slots__} | {"chunks": (*bad.chunks, twice)}
    )
    with pytest.raises(StoreError, match=r"(?i)unique"):
        write(store, broken, 100)
    assert write(store, good, 100).outcome == "new"
    assert store.known("c", ["b.md"]).get("b.md") is None
    assert [d.document for d in store.documents("c")] == ["a.md"]


def test_the_database_itself_refuses_a_second_active_version(
    store: Store, prepare: Prepare
) -> None:
    write(store, prepare("a.md", A), 100)
    write(store, prepare("a.md", B), 200)
    with pytest.raises(sa.exc.IntegrityError), store.database.write() as connection:
        connection.execute(versions.update().values(status="active"))


def test_success_forgets_the_failure(store: Store, prepare: Prepare) -> None:
    store.start_run("c", now=1, run_id="run", flow_run_id="flow run")

    def fail(now: int, data: str) -> int:
        return store.record_failure(
            "c", "a.md", uri="file:a.md", code="corrupt", message="m", remedy="r", now=now,
            attempt_key=data, run_id="run",
        )  # fmt: skip

    assert [fail(1, "x"), fail(2, "x"), fail(3, "y"), fail(4, "y")] == [1, 2, 1, 2]
    (failure,) = store.failures("c")
    assert (failure.attempts, failure.first_at, failure.last_at) == (2, 3, 4)
    assert (failure.attempt_key, failure.run_id, failure.flow_run_id) == ("y", "run", "flow run")
    known = store.known("c", ["a.md"])["a.md"]
    assert (known.attempts, known.failed_attempt) == (2, "y")
    write(store, prepare("a.md", A), 100)
    assert store.failures("c") == []
