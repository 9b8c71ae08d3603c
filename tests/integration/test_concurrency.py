"""Several writers at once, and readers meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from chunkprep_ingest.errors import MetadataError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]


def now() -> int:
    return time.time_ns() // 1000


def text(writer: int, number: int) -> str:
    """Between two and five paragraphs, each saying of how many it is one."""
    count = 2 + (writer + number) % 4
    lines = [f"Writer {writer} says {number}, {part} of {count}." for part in range(count)]
    return "\n\n".join(lines)


def test_a_hundred_identical_ingests_make_one_version(store: Store, prepare: Prepare) -> None:
    prepared = prepare("a.md", text(1, 1))
    with ThreadPoolExecutor(16) as pool:
        writes = [pool.submit(store.write_version, "c", prepared, now=now()) for _ in range(100)]
    outcomes = [write.result().outcome for write in writes]
    assert sorted(set(outcomes)) == ["new", "unchanged"]
    assert outcomes.count("new") == 1
    assert len(store.versions("c", "a.md")) == 1


def test_writers_of_different_contents_leave_one_whole_version_each(
    store: Store, prepare: Prepare
) -> None:
    keys = [f"{n}.md" for n in range(4)]
    for key in keys:
        store.write_version("c", prepare(key, text(0, 0)), now=now())

    def write(writer: int) -> None:
        for number in range(10):
            key = keys[(writer + number) % len(keys)]
            store.write_version("c", prepare(key, text(writer, number)), now=now())

    def read(done: Event) -> int:
        reads = 0
        while not done.is_set():
            found = store.lookup("c", [], documents=keys, at=now()).pinned
            assert sorted(found) == keys
            for rows in found.values():
                assert len({row.version for row in rows}) == 1
                assert rows[0].text.endswith(f"of {len(rows)}.")
            reads += 1
        return reads

    done = Event()
    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read, done) for _ in range(2)]
        writers = [pool.submit(write, n) for n in range(6)]
        try:
            for writer in writers:
                writer.result()
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
    for key in keys:
        versions = store.versions("c", key)
        assert [v.version for v in versions] == list(range(1, len(versions) + 1))
        assert [v.status for v in versions].count("active") == 1
    assert [f for f in store.audit("c", now=now()) if f.severity == "error"] == []


def test_two_documents_that_supersede_each_other_at_once(store: Store, prepare: Prepare) -> None:
    """However they meet, one of them is refused, and nothing hangs."""

    def write(key: str, other: str) -> str:
        try:
            return store.write_version(
                "c", prepare(key, text(1, 1), supersedes=other), now=now()
            ).outcome
        except MetadataError as error:
            return error.code

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(write, ("a.md", "b.md"), ("b.md", "a.md")))
    assert sorted(results) == ["bad_metadata", "new"]


def test_an_error_in_one_document_leaves_the_store_usable(store: Store, prepare: Prepare) -> None:
    with pytest.raises(MetadataError):
        store.write_version("c", prepare("a.md", text(1, 1), supersedes="a.md"), now=now())
    assert store.write_version("c", prepare("b.md", text(1, 1)), now=now()).outcome == "new"
