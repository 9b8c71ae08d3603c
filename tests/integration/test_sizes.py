"""Counts of what is in force, on both databases."""

from __future__ import annotations

from collections.abc import Callable

from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]


def test_only_blocks_in_force_count_and_the_largest_come_first(
    store: Store, prepare: Prepare
) -> None:
    store.put_policy(Policy(cap=64))
    store.write_version("c", prepare("a.md", "One two three.\n\nFour."), now=100)
    store.write_version("c", prepare("b.md", "A long one, by far the longest of all."), now=100)
    store.write_version("c", prepare("a.md", "Five six.\n\nSeven.\n\nEight."), now=200)
    store.write_version("other", prepare("z.md", "Not of this collection."), now=200)
    store.withdraw("c", "b.md", now=300, reason="old")
    for at, documents in ((150, 2), (250, 2), (350, 1)):
        rows = [
            row
            for info in store.documents("c", at=at)
            for row in store.chunks("c", info.document, info.version)
        ]
        counts = store.sizes("c", at=at)
        assert sum(count.chunks for count in counts) == len(rows)
        assert sum(c.chunks * c.block_tokens for c in counts) == sum(r.block_tokens for r in rows)
        assert {count.cap for count in counts} == {64}
        largest = store.largest("c", at=at, limit=2)
        sizes = sorted((row.block_tokens for row in rows), reverse=True)
        assert [block.block_tokens for block in largest] == sizes[:2]
        assert store.document_counts("c", at=at) == (documents, 2)
    assert store.largest("c", at=250)[0].title == "b.md"


def test_an_erased_document_and_one_that_was_only_named_are_not_counted(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", "One.", supersedes=["gone.md"]), now=100)
    store.write_version("c", prepare("b.md", "Two."), now=100)
    store.erase("c", "b.md", now=200)
    assert store.document_counts("c", at=300) == (1, 1)
