"""Situations that break ingestion elsewhere: those of versions, identity, time, crash and
concurrency, each through a whole ingest run, on both databases.

Below the runs, the same laws are held statement by statement and at size elsewhere:
test_writing.py, test_lifecycle.py, test_crash.py (killed between any two statements),
test_concurrency.py (a hundred identical writes, writers against readers), test_torture.py (kills
and crowds), tests/property/test_store_lives.py (any life of a store), tests/unit/test_plan.py (the
guard of a sync), tests/unit/test_sources.py (links). Situations of file formats are with the
readers, in tests/unit/test_read_*.py and tests/e2e/test_bad_input.py.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.support.running import COLLECTION, Desk

from chunkprep_flows.opened import now
from chunkprep_store.tables import changes, chunks, elements, versions

WORDS = "and so it goes on for a while until the paragraph is long enough to stand alone"


def paragraphs(*texts: str) -> str:
    """A document that is split at a cap of 32 into one chunk a paragraph."""
    return "\n\n".join(f"{text} {WORDS}." for text in texts)


@pytest.fixture
def desk(store_url: str, tmp_path: Path) -> Desk:
    folder = tmp_path / "docs"
    folder.mkdir()
    return Desk(folder, store_url)


# again and again


def test_documents_of_equal_text_stand_and_go_each_by_itself(desk: Desk) -> None:
    for name in ("a.md", "b.md"):
        desk.write(name, "# Lemons\n\nThe same text.\n")
    desk.write("c.md", "# Other\n\nAnother text.\n")
    desk.run()
    assert not set(desk.ids("a.md")) & set(desk.ids("b.md"))
    desk.remove("a.md")
    assert desk.outcomes(sync=True)["a.md"] == "withdrawn"
    assert desk.found("lemons") == {"b.md"}
    desk.remove("b.md")
    assert desk.outcomes(sync=True)["b.md"] == "withdrawn"
    assert desk.found("lemons") == set()
    assert desk.standing()["c.md"] == (1, "active")


def test_a_second_version_that_cannot_be_read_leaves_the_first_in_force(desk: Desk) -> None:
    desk.write("a.txt", "The first text.")
    desk.run()
    desk.write("a.txt", b"Caf\xe9")
    for attempt in (1, 2):
        assert desk.outcomes() == {"a.txt": "failed"}
        assert desk.failures() == {"a.txt": ("bad_encoding", attempt)}
        assert desk.texts() == "The first text."
    desk.write("a.txt", "The second text.")
    assert desk.outcomes() == {"a.txt": "updated"}
    assert (desk.texts(), desk.failures()) == ("The second text.", {})


def test_bytes_that_failed_are_tried_again_when_they_come_again(desk: Desk) -> None:
    desk.write("a.txt", b"Caf\xe9")
    assert desk.outcomes() == {"a.txt": "failed"}
    assert desk.outcomes(fallback_encoding="latin-1") == {"a.txt": "new"}
    assert (desk.texts(), desk.failures()) == ("Caf\u00e9", {})


def test_a_bad_file_is_tried_a_few_times_grows_nothing_and_is_listed_once(desk: Desk) -> None:
    desk.write("a.md", "")
    for run in range(1, 6):
        assert desk.outcomes() == {"a.md": "failed"}
        assert desk.failures() == {"a.md": ("empty", min(run, 3))}
    with desk.store() as store, store.database.engine.connect() as connection:
        for table in (versions, chunks, elements, changes):
            assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 0


def test_what_a_touch_a_hidden_field_and_the_title_cost(desk: Desk) -> None:
    path = desk.write("a.md", "---\ntitle: One\n---\n\nThe text.\n")
    desk.run()
    ids = desk.ids("a.md")
    os.utime(path, (1, 1))
    report = desk.run()
    assert (report.unchanged, report.chunks_written) == (1, 0)
    desk.write("a.md", "---\ntitle: One\nauthority: 5\n---\n\nThe text.\n")
    assert desk.outcomes() == {"a.md": "metadata_only"}
    assert (desk.ids("a.md"), desk.standing()) == (ids, {"a.md": (1, "active")})
    desk.write("a.md", "---\ntitle: Two\nauthority: 5\n---\n\nThe text.\n")
    assert desk.outcomes() == {"a.md": "updated"}
    assert not set(desk.ids("a.md")) & set(ids)


def test_rows_deleted_behind_the_tracker_are_found_and_healed(desk: Desk) -> None:
    desk.write("a.md", paragraphs("One", "Two", "Three"))
    desk.run(cap=32)
    ids = desk.ids("a.md")
    assert len(ids) == 3
    with desk.store() as store, store.database.write() as connection:
        connection.execute(chunks.delete().where(chunks.c.ordinal == 1))
    assert desk.audit() == [("wholeness", "a.md")]
    assert desk.outcomes(cap=32) == {"a.md": "updated"}
    assert (desk.ids("a.md"), desk.audit()) == (ids, [])


def test_a_document_of_which_one_row_is_rejected_is_not_done_and_fails_alone(desk: Desk) -> None:
    desk.write("a.md", paragraphs(*"ABCDEFGHI", "Poison"))
    desk.write("b.md", "Good.")
    with Rejecting(desk, "Poison"):
        assert desk.outcomes(cap=32) == {"a.md": "failed", "b.md": "new"}
    assert desk.failures() == {"a.md": ("rejected", 1)}
    assert desk.standing() == {"b.md": (1, "active")}
    assert desk.outcomes(cap=32) == {"a.md": "new", "b.md": "unchanged"}
    assert len(desk.ids("a.md")) == 10
    assert (desk.failures(), desk.audit()) == ({}, [])


class Rejecting:
    """A database that rejects every chunk in which a word stands."""

    def __init__(self, desk: Desk, word: str) -> None:
        self.desk = desk
        self.word = word

    def __enter__(self) -> None:
        self.execute(
            {
                "sqlite": "CREATE TRIGGER reject BEFORE INSERT ON chunks "
                f"WHEN NEW.text LIKE '%{self.word}%' "
                "BEGIN SELECT RAISE(ABORT, 'rejected'); END",
                "postgresql": "ALTER TABLE chunks ADD CONSTRAINT reject "
                f"CHECK (strpos(text, '{self.word}') = 0)",
            }
        )

    def __exit__(self, *_: object) -> None:
        self.execute(
            {
                "sqlite": "DROP TRIGGER reject",
                "postgresql": "ALTER TABLE chunks DROP CONSTRAINT reject",
            }
        )

    def execute(self, statements: dict[str, str]) -> None:
        with self.desk.store() as store, store.database.write() as connection:
            connection.exec_driver_sql(statements[store.dialect])


def test_an_edited_sentence_and_a_removed_one_are_never_returned_again(desk: Desk) -> None:
    desk.write("a.md", paragraphs("Apples are red", "Pears are green", "Plums are blue"))
    desk.run(cap=32)
    old = desk.ids("a.md")
    desk.write("a.md", paragraphs("Apples are yellow", "Pears are green"))
    desk.run(cap=32)
    everything = [*old, *desk.ids("a.md")]
    for gone in ("Apples are red", "Plums are blue"):
        assert gone not in desk.texts()
        assert gone not in desk.packed(everything)
    assert desk.packed(everything).count("Pears are green") == 1
    assert desk.found("plums") == set()
    assert desk.found("plums", any_status=True) == {"a.md"}


def test_five_chunks_that_become_two_leave_two(desk: Desk) -> None:
    desk.write("a.md", paragraphs(*"ABCDE"))
    desk.run(cap=32)
    old = desk.ids("a.md")
    assert len(old) == 5
    desk.write("a.md", paragraphs(*"XY"))
    desk.run(cap=32)
    with desk.store() as store:
        rows = store.lookup(COLLECTION, [*old, *desk.ids("a.md")], at=now()).rows
    assert sorted((r.ordinal, r.version) for r in rows if r.status == "active") == [(0, 2), (1, 2)]
    assert {r.ordinal for r in rows if r.version == 1} == set(range(5))
    assert desk.audit() == []


def test_the_same_file_three_times_grows_nothing(desk: Desk) -> None:
    desk.write("a.md", paragraphs(*"ABC"))
    desk.run(cap=32)
    with desk.store() as store:
        before = store.changes(COLLECTION)
    for _ in range(2):
        assert desk.outcomes() == {"a.md": "unchanged"}
    assert len(desk.ids("a.md")) == 3
    with desk.store() as store:
        assert store.changes(COLLECTION) == before


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_file_that_becomes_empty_fails_and_its_last_version_holds(desk: Desk, text: str) -> None:
    desk.write("a.md", "# A\n\nThe text.\n")
    desk.run()
    desk.write("a.md", text)
    assert desk.outcomes(sync=True) == {"a.md": "failed"}
    assert desk.failures()["a.md"][0] == "empty"
    assert desk.standing() == {"a.md": (1, "active")}
    assert desk.audit() == [("failing", "a.md")]


def test_another_cap_splits_the_same_bytes_again(desk: Desk) -> None:
    desk.write("a.md", paragraphs(*"ABCDEFGHIJ"))
    desk.run(cap=32)
    assert len(desk.ids("a.md")) == 10
    assert desk.outcomes(cap=200) == {"a.md": "updated"}
    assert len(desk.ids("a.md")) < 5
    assert desk.outcomes() == {"a.md": "unchanged"}
    assert [v.status for v in desk.versions("a.md")] == ["superseded", "active"]


def test_a_new_splitter_splits_the_same_bytes_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("a.md", paragraphs(*"AB"))
    desk.run(cap=32)
    old = desk.ids("a.md")
    monkeypatch.setattr("chunkprep_ingest.policy.SPLITTER_VERSION", "next")
    assert desk.outcomes() == {"a.md": "updated"}
    assert not set(old) & set(desk.ids("a.md"))


def test_a_b_a_is_three_versions_with_the_same_ids_on_any_machine(
    desk: Desk, tmp_path: Path
) -> None:
    other = Desk(tmp_path / "elsewhere" / "docs", f"sqlite:///{tmp_path / 'other.db'}")
    for each in (desk, other):
        for text in ("A", "B", "A"):
            each.write("a.md", f"# T\n\n{text}.\n")
            each.run()
    assert [v.status for v in desk.versions("a.md")] == ["superseded", "superseded", "active"]
    ids = [desk.ids("a.md", number) for number in (1, 2, 3)]
    assert len({i for some in ids for i in some}) == 3
    assert ids == [other.ids("a.md", number) for number in (1, 2, 3)]


# identity and listing


def test_files_of_one_name_in_two_folders_are_two_documents(desk: Desk) -> None:
    desk.write("a/readme.md", "# A\n\nOf a.\n")
    desk.write("b/readme.md", "# A\n\nOf b.\n")
    assert desk.outcomes() == {"a/readme.md": "new", "b/readme.md": "new"}
    desk.write("a/readme.md", "# A\n\nOf a, changed.\n")
    assert desk.outcomes() == {"a/readme.md": "updated", "b/readme.md": "unchanged"}


def test_a_moved_file_is_in_force_under_its_new_key_only(desk: Desk) -> None:
    path = desk.write("old.md", "# A\n\nThe text.\n")
    desk.write("other.md", "# B\n\nStays.\n")
    desk.run()
    path.rename(desk.folder / "new.md")
    assert desk.outcomes(sync=True) == {
        "new.md": "new", "old.md": "withdrawn", "other.md": "unchanged",
    }  # fmt: skip
    assert desk.found("text") == {"new.md"}


def test_what_cannot_be_listed_is_not_a_deletion(desk: Desk) -> None:
    for name in ("a.md", "b.md"):
        desk.write(name, f"# {name}\n\nThe text.\n")
    desk.run()
    desk.remove("a.md")
    desk.write("sub/c.md", "# C\n")
    (desk.folder / "sub/.chunkprepignore").symlink_to("nowhere")  # unreadable, for root too
    report = desk.run(sync=True)
    assert (report.withdrawn, report.failed) == (0, 1)
    assert "docs/sub/.chunkprepignore: No such file" in report.warnings[0]
    desk.remove("sub/.chunkprepignore")
    gone = desk.folder.parent / "nowhere"
    report = desk.run(str(gone), sync=True)
    assert report.trouble
    assert report.withdrawn == 0
    assert {status for _, status in desk.standing().values()} == {"active"}
    assert desk.run(sync=True).withdrawn == 1


def test_a_root_that_is_gone_fails_the_run_and_withdraws_nothing(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nThe text.\n")
    desk.run()
    desk.folder.rename(desk.folder.with_name("moved"))
    report = desk.run(sync=True)
    assert (report.trouble, report.withdrawn) == (True, 0)
    assert desk.standing()["a.md"] == (1, "active")


def test_an_empty_listing_after_a_hundred_documents_withdraws_nothing(desk: Desk) -> None:
    for number in range(100):
        desk.write(f"{number}.md", f"# D\n\nText {number}.\n")
    assert desk.run().new == 100
    for number in range(80):
        desk.remove(f"{number}.md")
    report = desk.run(sync=True)
    assert (report.withdrawn, len(report.warnings)) == (0, 1)
    assert "--allow-mass-withdraw" in report.warnings[0]
    for number in range(80, 100):
        desk.remove(f"{number}.md")
    report = desk.run(sync=True)
    assert (report.withdrawn, len(report.warnings)) == (0, 1)
    assert "--allow-mass-withdraw" in report.warnings[0]
    report = desk.run(sync=True, allow_mass_withdraw=True)
    assert (report.withdrawn, len(report.warnings)) == (100, 0)


def test_links_that_go_round_end_and_list_each_file_once(desk: Desk) -> None:
    desk.write("sub/a.md", "# A\n\nThe text.\n")
    for name, target in {
        "here": ".", "sub/up": "..", "sub/one": "two", "sub/two": "one", "broken.md": "gone.md",
    }.items():  # fmt: skip
        (desk.folder / name).symlink_to(target)
    outcomes = desk.outcomes()
    assert [name for name, outcome in outcomes.items() if outcome == "new"] == ["sub/a.md"]
    assert desk.failures()["broken.md"][0] == "unreadable"


# supersession and time


def test_a_superseded_chunk_is_returned_by_no_read_path_unless_asked(desk: Desk) -> None:
    desk.write("old.md", "# Refunds\n\nThirty days.\n")
    desk.run()
    before, old = now(), desk.ids("old.md")
    desk.write("new.md", "---\nsupersedes: old.md\n---\n# Refunds\n\nTen days.\n")
    desk.run()
    assert "Thirty" not in desk.texts()
    assert desk.found("refunds thirty days") == {"new.md"}
    assert "Thirty" not in desk.packed(old)
    assert "Thirty" in desk.texts(at=before)
    assert desk.found("refunds thirty days", any_status=True) == {"new.md", "old.md"}
    assert desk.audit() == []


def test_a_hand_keeps_a_document_out_and_a_sync_does_not(desk: Desk) -> None:
    for name in ("hand.md", "sync.md", "stays.md"):
        desk.write(name, f"# {name}\n\nThe text.\n")
    desk.run()
    with desk.store() as store:
        store.withdraw(COLLECTION, "hand.md", now=now(), reason="wrong")
    kept = (desk.folder / "sync.md").read_text()
    desk.remove("sync.md")
    desk.run(sync=True)
    desk.write("sync.md", kept)
    desk.write("hand.md", "# hand.md\n\nOther text.\n")
    assert desk.outcomes(sync=True)["sync.md"] == "revived"
    assert {d: status for d, (_, status) in desk.standing().items()} == {
        "hand.md": "withdrawn", "stays.md": "active", "sync.md": "active",
    }  # fmt: skip


def test_dates_in_the_wrong_order_are_refused_and_the_last_version_holds(desk: Desk) -> None:
    desk.write("a.md", "The text.")
    desk.run()
    desk.write("a.md", "---\nvalid_from: 2026-02-01\nvalid_to: 2026-01-01\n---\nOther.\n")
    assert desk.outcomes() == {"a.md": "failed"}
    assert desk.failures()["a.md"][0] == "bad_metadata"
    assert desk.texts() == "The text."


def test_an_announced_version_leaves_the_present_one_in_force_until_then(desk: Desk) -> None:
    desk.write("a.md", "The present text.")
    desk.run()
    desk.write("a.md", "---\nvalid_from: 2999-01-01\n---\nThe text to come.\n")
    assert desk.outcomes() == {"a.md": "updated"}
    assert desk.texts() == "The present text."
    one, two = desk.versions("a.md")
    assert one.effective_to == two.effective_from
    assert desk.texts(at=(two.effective_from or 0) - 1) == "The present text."
    assert desk.texts(at=two.effective_from) == "The text to come."


def test_a_clock_that_steps_back_between_runs_retires_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = now()
    for step, text in ((0, "One."), (3_600_000_000, "Two."), (-3_600_000_000, "Three.")):
        monkeypatch.setattr("chunkprep_flows.batch.now", lambda step=step: real + step)
        desk.write("a.md", text)
        assert desk.outcomes()["a.md"] in {"new", "updated"}
    for at in range(real - 7_200_000_000, real + 7_200_000_000, 600_000_000):
        assert desk.texts(at=at) in {"One.", "Two.", "Three."}
    assert desk.texts(at=real + 7_200_000_000) == "Three."
    with desk.store() as store:
        rows = [r for n in (1, 2, 3) for r in store.chunks(COLLECTION, "a.md", n)]
    stored = [r.stored_at for r in rows]
    assert stored == sorted(stored)
    assert ("effective_ranges", "a.md") not in desk.audit()


def test_all_chunks_of_a_version_carry_one_moment(desk: Desk) -> None:
    desk.write("a.md", paragraphs(*"ABCDEFGH"))
    desk.run(cap=32)
    with desk.store() as store:
        rows = store.chunks(COLLECTION, "a.md")
    assert len(rows) == 8
    assert len({(r.stored_at, r.effective_from, r.effective_to) for r in rows}) == 1


# crash and concurrency

DOCUMENTS = 40


def fill(desk: Desk, state: str) -> None:
    for number in range(DOCUMENTS):
        desk.write(f"{number:02}.md", f"# D\n\n{paragraphs(*(f'{state}{n}' for n in range(20)))}\n")


def test_runs_that_are_killed_lose_and_double_nothing(desk: Desk) -> None:
    fill(desk, "old")
    desk.run(cap=32)
    fill(desk, "new")
    for kills in range(3):
        running = desk.process()
        wait_for_second_versions(desk, more_than=kills * 4)
        running.kill()
        running.communicate(timeout=60)
        assert desk.audit() == []
    done = [d for d, (version, _) in desk.standing().items() if version == 2]
    assert done
    outcomes = desk.outcomes()
    assert all(outcomes[document] == "unchanged" for document in done)
    assert desk.standing() == {f"{n:02}.md": (2, "active") for n in range(DOCUMENTS)}
    assert "old" not in desk.texts()
    assert desk.audit() == []


def wait_for_second_versions(desk: Desk, more_than: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if sum(version == 2 for version, _ in desk.standing().values()) > more_than:
            return
        time.sleep(0.01)


def test_two_processes_that_ingest_the_same_folder_make_one_version_each(desk: Desk) -> None:
    fill(desk, "same")
    running = [desk.process(), desk.process()]
    for each in running:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, out + err
    assert desk.standing() == {f"{n:02}.md": (1, "active") for n in range(DOCUMENTS)}
    assert desk.audit() == []


def test_different_contents_for_one_key_at_once_leave_one_whole_version(
    desk: Desk, tmp_path: Path
) -> None:
    desks = [Desk(tmp_path / str(n), desk.url) for n in range(4)]
    for number, each in enumerate(desks):
        each.write("a.md", paragraphs(*(f"Writer {number} line {n}" for n in range(3 + number))))
    desk.write("first.md", "So that the collection is there.")
    desk.run()
    with ThreadPoolExecutor(len(desks)) as pool:
        for done in [pool.submit(each.process().communicate, None, 120) for each in desks]:
            done.result()
    found = desk.versions("a.md")
    assert [v.version for v in found] == list(range(1, len(found) + 1))
    assert [v.status for v in found].count("active") == 1
    assert len({text.split()[1] for text in desk.texts().split("\n") if "Writer" in text}) == 1
    assert desk.audit() == []
