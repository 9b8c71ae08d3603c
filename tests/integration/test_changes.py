"""The change feed: a mirror that follows it equals the store."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Change, Store

Prepare = Callable[..., PreparedVersion]
Mirror = dict[str, Change]

ONE = "# A\n\nThe first text.\n\nThe same."
TWO = "# A\n\nAnother text.\n\nThe same."


def follow(store: Store, mirror: Mirror, since: int = 0, limit: int = 3) -> int:
    """Apply entries page by page; cursors must be without gap and repeat."""
    while page := store.changes("c", since, limit):
        for change in page:
            assert change.cursor == since + 1
            since = change.cursor
            if change.action == "upsert":
                mirror[change.chunk_id] = change
            else:
                mirror.pop(change.chunk_id, None)
    return since


def held(mirror: Mirror, at: int) -> set[str]:
    return {
        c.chunk_id
        for c in mirror.values()
        if in_force(str(c.status), c.effective_from, c.effective_to, at)
    }


def stored(store: Store, at: int) -> set[str]:
    return {
        row.chunk_id
        for d in store.documents("c", at=at)
        for row in store.chunks("c", d.document, d.version)
    }


def test_entries_carry_what_an_index_needs(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", ONE, access="staff"), now=100)
    first = store.changes("c", 0, 10)[1]
    row = store.chunks("c", "a.md")[1]
    assert (first.action, first.chunk_id, first.text, first.header) == (
        "upsert", row.chunk_id, row.text, row.header,
    )  # fmt: skip
    assert (first.content_hash, first.access, first.document, first.version) == (
        row.content_hash, '["staff"]', "a.md", 1,
    )  # fmt: skip


def test_entries_carry_the_range_and_all_metadata_as_it_is_now(
    store: Store, prepare: Prepare
) -> None:
    made = prepare("a.md", ONE, title="Fruit", valid_from=500, edition="2", authority=3)
    store.write_version("c", made, now=100)
    store.set_metadata("c", "a.md", {"tags": "red,sweet", "valid_to": 900}, now=200)
    rows = {row.chunk_id: row for row in store.chunks("c", "a.md")}
    last = store.changes("c")[-1]
    row = rows[last.chunk_id]
    assert (last.status, last.effective_from, last.effective_to) == ("active", 500, 900)
    assert (last.title, last.ordinal, last.heading_path) == ("Fruit", row.ordinal, row.heading_path)
    assert (last.kind, last.page, last.authority) == (row.kind, row.page, 3)
    known = json.loads(last.metadata or "")
    assert (known["edition"], known["tags"], known["valid_to"]) == ("2", ["red", "sweet"], 900)


def test_a_removal_carries_only_the_name(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", ONE), now=100)
    store.withdraw("c", "a.md", now=200)
    last = store.changes("c")[-1]
    assert (last.action, last.document, last.version) == ("remove", "a.md", 1)
    assert (last.text, last.header, last.metadata, last.title) == (None, None, None, None)


def test_the_mirror_equals_the_store_through_a_life(store: Store, prepare: Prepare) -> None:
    mirror: Mirror = {}
    cursor = 0
    events: list[Callable[[int], object]] = [
        lambda now: store.write_version("c", prepare("a.md", ONE), now=now),
        lambda now: store.write_version("c", prepare("b.md", ONE, status="draft"), now=now),
        lambda now: store.write_version("c", prepare("a.md", TWO), now=now),
        lambda now: store.write_version("c", prepare("b.md", ONE), now=now),
        lambda now: store.set_metadata("c", "a.md", {"tags": "x"}, now=now),
        lambda now: store.write_version("c", prepare("a.md", ONE, valid_from=5_000), now=now),
        lambda now: store.supersede("c", "b.md", "a.md", now=now),
        lambda now: store.withdraw("c", "a.md", now=now, by="sync"),
        lambda now: store.write_version("c", prepare("a.md", ONE), now=now),
        lambda now: store.restore("c", "b.md", now=now),
        lambda now: store.prune("c", ended_before=now, now=now),
        lambda now: store.erase("c", "b.md", now=now),
    ]
    for number, event in enumerate(events, start=1):
        now = number * 100
        event(now)
        cursor = follow(store, mirror, cursor)
        for at in (now, now + 50, 5_000):
            assert held(mirror, at) == stored(store, at), (number, at)


def test_a_draft_makes_no_entry_and_an_unchanged_document_none(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", ONE, status="draft"), now=100)
    assert store.changes("c") == []
    store.write_version("c", prepare("b.md", ONE), now=100)
    count = len(store.changes("c"))
    store.write_version("c", prepare("b.md", ONE), now=200)
    assert len(store.changes("c")) == count


def test_cursors_stand_in_commit_order_under_concurrent_writers(
    store: Store, prepare: Prepare
) -> None:
    mirror: Mirror = {}
    done = threading.Event()
    trouble: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            for n in range(12):
                text = f"# W\n\nWriter {writer} says {n}.\n\nAlways the same."
                store.write_version("c", prepare(f"{n % 4}.md", text), now=1_000 + n)
        except BaseException as error:
            trouble.append(error)

    def read() -> None:
        cursor = 0
        try:
            while True:
                last = done.is_set()
                cursor = follow(store, mirror, cursor, limit=7)
                if last:
                    return
        except BaseException as error:
            trouble.append(error)

    store.start_run("c", now=1)
    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(w,)) for w in range(4)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert trouble == []
    assert held(mirror, 10**9) == stored(store, 10**9)
