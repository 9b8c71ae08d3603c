"""Prune makes room without breaking what is kept; erase leaves no trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkprep_ingest.errors import NotFoundError, RequestError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import PackedChunk, PackRecord, Store

Prepare = Callable[..., PreparedVersion]


def text(word: str) -> str:
    return f"# Part\n\nIt says {word}.\n\nAlways the same."


def pack(request_id: str, at: int, *chunk_ids: str, result: str | None = None) -> PackRecord:
    used = tuple(PackedChunk(c, n) for n, c in enumerate(chunk_ids))
    blocks = [{"chunk_id": chunk_id} for chunk_id in chunk_ids]
    plain = json.dumps({"blocks": blocks, "decisions": [], "log": {}})
    asked = json.dumps({"budget": 100})
    return PackRecord(request_id, at, at, "words", 100, 50, asked, result or plain, (), used)


@pytest.fixture
def filled(store: Store, prepare: Prepare) -> Store:
    """A document with four versions; the second was packed."""
    for now, word in enumerate(("one", "two", "three", "four"), start=1):
        store.write_version("c", prepare("a.md", text(word)), now=now * 100)
    second = store.chunks("c", "a.md", 2)[0].chunk_id
    store.write_packs("c", [pack("r", 250, second)])
    return store


def test_prune_keeps_what_packs_need(filled: Store) -> None:
    before = filled.chunks("c", "a.md", 2)
    assert filled.prune("c", ended_before=10_000, now=10_000) == (2, 6, 0, 1)
    assert [v.version for v in filled.versions("c", "a.md")] == [2, 4]
    kept = filled.chunks("c", "a.md", 2)
    assert [r.chunk_id for r in kept] == [r.chunk_id for r in before]
    assert {r.superseded_by for r in kept} == {r.chunk_id for r in filled.chunks("c", "a.md")}
    assert [f for f in filled.audit("c", now=10_000) if f.severity != "info"] == []
    assert filled.impact("c", "a.md")[0].version == 2


def test_prune_takes_all_when_told(filled: Store) -> None:
    assert filled.prune("c", ended_before=10_000, with_packs=True, now=10_000).versions == 3
    assert [v.version for v in filled.versions("c", "a.md")] == [4]
    assert [i.version for i in filled.impact("c", "a.md")] == [2]
    assert filled.prune("c", ended_before=10_000, with_packs=True, now=10_000) == (0, 0, 0, 0)


def test_old_pack_logs_go_and_free_their_versions(filled: Store) -> None:
    pruned = filled.prune("c", ended_before=10_000, packs_before=300, now=10_000)
    assert (pruned.versions, pruned.packs) == (3, 1)
    assert list(filled.packs("c")) == []


def test_only_what_ended_before_goes(filled: Store) -> None:
    assert filled.prune("c", ended_before=250, now=10_000).versions == 1


@pytest.mark.parametrize("with_packs", [False, True])
@pytest.mark.parametrize("packs_before", [None, 10_000])
@pytest.mark.parametrize("ended_before", [0, 250, 10_000])
def test_a_dry_run_counts_what_a_prune_removes(
    filled: Store, ended_before: int, packs_before: int | None, with_packs: bool
) -> None:
    asked: dict[str, Any] = {
        "ended_before": ended_before, "packs_before": packs_before, "with_packs": with_packs
    }  # fmt: skip
    foreseen = filled.prunable("c", **asked)
    assert foreseen == filled.prunable("c", **asked)
    assert foreseen == filled.prune("c", **asked, now=10_000)


def test_numbers_and_ids_go_on_after_a_prune(filled: Store, prepare: Prepare) -> None:
    first = {r.chunk_id for r in filled.chunks("c", "a.md", 1)}
    filled.prune("c", ended_before=10_000, with_packs=True, now=10_000)
    outcome = filled.write_version("c", prepare("a.md", text("one")), now=20_000)
    assert outcome.version == 5
    assert not first & {r.chunk_id for r in filled.chunks("c", "a.md")}


def test_a_pruned_withdrawn_document_is_not_damaged(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", text("one")), now=100)
    store.withdraw("c", "a.md", now=200)
    store.prune("c", ended_before=1_000, now=1_000)
    assert store.known("c", ["a.md"])["a.md"].whole
    assert store.write_version("c", prepare("a.md", text("one")), now=2_000).outcome == "unchanged"


def test_what_may_come_back_is_stored_anew_after_a_prune(store: Store, prepare: Prepare) -> None:
    for name in ("hand.md", "sync.md", "draft.md", "old.md"):
        store.write_version("c", prepare(name, text("one")), now=100)
    store.withdraw("c", "hand.md", now=200)
    store.withdraw("c", "sync.md", now=200, by="sync")
    store.set_metadata("c", "draft.md", {"status": "draft"}, now=200)
    store.write_version("c", prepare("new.md", text("two"), supersedes="old.md"), now=200)
    store.prune("c", ended_before=1_000, now=1_000)
    assert [d.document for d in store.documents("c")] == ["draft.md", "new.md"]
    for name in ("hand.md", "old.md"):
        with pytest.raises(NotFoundError, match="pruned"):
            store.versions("c", name)
        with pytest.raises(RequestError, match="ingest it again"):
            store.restore("c", name, version=1, now=1_100)
        assert store.write_version("c", prepare(name, text("one")), now=1_200).outcome == (
            "unchanged"
        )
    with pytest.raises(RequestError, match=r"take `supersedes` out of new\.md"):
        store.restore("c", "old.md", now=1_250)
    store.set_metadata("c", "new.md", {"supersedes": ""}, now=1_250)
    for name in ("hand.md", "old.md"):
        assert store.restore("c", name, now=1_300).version == 0
    for name in ("hand.md", "sync.md", "old.md"):
        back = store.write_version("c", prepare(name, text("one")), now=1_400)
        assert (back.outcome, back.status) == ("revived", "active")
    decided = store.set_metadata("c", "draft.md", {"status": "active"}, now=1_400)
    assert decided.status == "active"
    assert len(list(store.documents("c", at=1_500))) == 5
    assert [f for f in store.audit("c", now=1_500) if f.severity == "error"] == []


TABLES = (
    "collections documents versions metadata_history elements chunks chunk_prices links runs "
    "failures changes packs pack_chunks"
).split()


def traces(store: Store, word: str) -> list[str]:
    """Tables (and on SQLite the files) in which a word still stands."""
    dumped = {name: repr(store.database.rows(f"SELECT * FROM {name}", ())) for name in TABLES}
    if store.dialect == "sqlite":
        path = Path(str(store.database.url.database))
        dumped |= {
            file.suffix: file.read_bytes().decode("latin-1")
            for file in path.parent.glob(path.name + "*")
        }
    return [name for name, text in dumped.items() if word in text]


def test_erase_leaves_no_trace_but_a_tombstone(store: Store, prepare: Prepare) -> None:
    secret = "xylophonist"
    for now, body in ((100, text(secret)), (200, text(secret + " again"))):
        store.write_version("c", prepare("who.md", body, tags=secret), now=now)
    store.write_version("c", prepare("other.md", text("kept"), supersedes="who.md"), now=300)
    ids = [r.chunk_id for r in store.chunks("c", "who.md")]
    other = [r.chunk_id for r in store.chunks("c", "other.md")]
    result = json.dumps({
        "text": secret,
        "blocks": [
            {"chunk_id": ids[0], "document": "who.md", "heading_path": [secret], "tokens": 3},
            {"chunk_id": other[0], "document": "other.md", "heading_path": ["Part"]},
        ],
        "decisions": [{"chunk_id": ids[0], "outcome": "packed", "rank": 1}],
        "log": {},
    })  # fmt: skip
    store.write_packs("c", [pack("r", 250, ids[0], other[0], result=result), pack("s", 260)])
    erased = store.erase("c", "who.md", now=400)
    assert (erased.versions, erased.chunks, erased.packs) == (2, 6, 1)
    store.vacuum()
    assert traces(store, secret) == []
    assert [d.document for d in store.documents("c")] == ["other.md"]
    assert store.search("c", secret, top=5, at=250, any_status=True) == []
    assert [f for f in store.audit("c", now=500) if f.severity == "error"] == []
    (logged,) = store.packs("c", request_id="r")
    blocks = json.loads(logged.result_json)["blocks"]
    assert blocks[0] == {"chunk_id": ids[0], "tokens": 3}
    assert blocks[1]["heading_path"] == ["Part"]
    feed = store.changes("c", 0, 1_000)
    assert {c.action for c in feed if c.document == "who.md"} == {"remove"}


def test_an_erased_document_stays_away_until_restored(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("who.md", text("one")), now=100)
    store.erase("c", "who.md", now=200)
    assert store.known("c", ["who.md"])["who.md"].erased
    assert store.write_version("c", prepare("who.md", text("one")), now=300).outcome == "skipped"
    with pytest.raises(NotFoundError, match=r"who\.md.*erased"):
        store.versions("c", "who.md")
    assert store.restore("c", "who.md", now=400).version == 0
    outcome = store.write_version("c", prepare("who.md", text("one")), now=500)
    assert (outcome.outcome, outcome.version) == ("new", 2)


def test_erasing_what_is_not_here_says_so(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("b.md", text("one"), supersedes="a.md"), now=100)
    for name in ("a.md", "nope.md"):
        with pytest.raises(NotFoundError, match="not in this collection"):
            store.erase("c", name, now=200)


def test_a_prune_that_is_stopped_goes_on_later(filled: Store) -> None:
    stopped = filled.prune("c", ended_before=10_000, now=10_000, stop_asked=lambda: True)
    assert stopped == (0, 0, 0, 3)
    assert not filled.vacuum(lambda: True)
    assert filled.prune("c", ended_before=10_000, now=10_000) == (2, 6, 0, 1)
    assert filled.vacuum()


def test_a_pack_that_is_logged_after_an_erasure_is_nobody_elses(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("secret.md", text("one")), now=100)
    [row, *_] = store.chunks("c", "secret.md")
    found = store.lookup("c", [row.chunk_id], at=150).rows[0]
    used = PackedChunk(row.chunk_id, 0, None, found.version_id)
    late = PackRecord("r", 150, 150, "words", 100, 50, "{}", "{}", (), (used,))
    store.erase("c", "secret.md", now=200)
    store.write_version("c", prepare("other.md", text("two")), now=300)
    store.write_packs("c", [late])
    assert store.impact("c", "other.md") == []
