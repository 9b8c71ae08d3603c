"""A process killed between any two statements leaves all or nothing of a version."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import Store

Prepare = Callable[..., PreparedVersion]

ONE = "# Refunds\n\nRefunds take thirty days.\n\nBring the receipt."
TWO = "# Refunds\n\nRefunds take ten days.\n\nBring the receipt."
KILLED = 9


def die_at(url: str, statement: int, work: Callable[[Store], object]) -> bool:
    """Do the work in a process that is gone before its n-th statement; False: it was through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # no other thread holds a lock here
        child = os.fork()
    if child == 0:
        with Store.open(url) as store:
            seen = 0

            def count(*_: object) -> None:
                nonlocal seen
                seen += 1
                if seen == statement:
                    os._exit(KILLED)

            sa.event.listen(store.database.engine, "before_cursor_execute", count)
            sa.event.listen(store.database.engine, "commit", count)
            work(store)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED)
    return code == KILLED


@pytest.mark.parametrize("change", ["text", "metadata", "supersedes"])
def test_killed_between_any_two_statements(store_url: str, prepare: Prepare, change: str) -> None:
    old = prepare("a.md", ONE)
    new = {
        "text": prepare("a.md", TWO),
        "metadata": prepare("a.md", ONE, valid_to=5_000, tags="x"),
        "supersedes": prepare("b.md", TWO, supersedes="a.md"),
    }[change]
    with Store.open(store_url) as store:
        store.write_version("c", old, now=100)
        before = (list(store.documents("c")), store.changes("c"))
    statement = 1
    while die_at(store_url, statement, lambda s: s.write_version("c", new, now=200)):
        with Store.open(store_url) as store:
            assert (list(store.documents("c")), store.changes("c")) == before
            assert list(store.audit("c", now=300)) == []
        statement += 1
    assert statement > 8
    with Store.open(store_url) as store:
        assert (list(store.documents("c")), store.changes("c")) != before
        assert store.write_version("c", new, now=400).outcome == "unchanged"
        assert list(store.audit("c", now=500)) == []


def test_killed_after_some_documents_keeps_those_and_goes_on(
    store_url: str, prepare: Prepare
) -> None:
    keys = [f"{n}.md" for n in range(6)]

    def ingest(store: Store) -> None:
        for key in keys:
            store.write_version("c", prepare(key, ONE), now=100)

    assert die_at(store_url, 50, ingest)
    with Store.open(store_url) as store:
        there = [d.document for d in store.documents("c")]
        assert there == keys[: len(there)]
        assert 0 < len(there) < len(keys)
        ingest(store)
        assert [(d.document, d.version) for d in store.documents("c")] == [(k, 1) for k in keys]
