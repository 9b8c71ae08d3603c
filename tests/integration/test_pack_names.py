"""The names of logged packs: checked before packing, and never two packs under one."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_ingest.errors import RequestError
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import PackedChunk, PackRecord, Store

NOW = 1_700_000_000_000_000
NAME = "order-42"


@pytest.fixture
def filled(store: Store) -> Store:
    text = "# Refund\n\n" + "\n\n".join(f"Paragraph {n} says this and that." for n in range(60))
    ingest(store, "refund.md", text, now=NOW)
    return store


def wanted(store: Store, budget: int) -> PackRequest:
    candidates = [Candidate(name, 1.0) for name in chunk_ids(store, "refund.md")]
    return PackRequest(budget=budget, candidates=candidates)


def logged(store: Store) -> dict[str, int]:
    """The slot of each logged pack, by name."""
    return {record.request_id: record.slot for record in store.packs("default")}


def record(at: int, name: str = NAME) -> PackRecord:
    used = (PackedChunk("a chunk", 0),)
    return PackRecord(name, at, at, "words", 100, 50, "{}", "{}", (), used)


def test_a_name_that_is_taken_is_refused_where_the_log_is_written_at_once(filled: Store) -> None:
    with Packer(filled, log="sync") as packer:
        packer.pack(wanted(filled, 400), request_id=NAME)
        with pytest.raises(RequestError, match="'order-42' is logged already") as caught:
            packer.pack(wanted(filled, 900), request_id=NAME)
        assert caught.value.field == "request_id"
        unlogged = wanted(filled, 900).model_copy(update={"log": False})
        assert packer.pack(unlogged, request_id=NAME).request_id == NAME
    assert logged(filled) == {NAME: 400}


@pytest.mark.parametrize("apart", [True, False])
def test_in_the_background_both_packs_are_logged_and_the_next_answer_says_how(
    filled: Store, apart: bool
) -> None:
    with Packer(filled) as packer:
        for budget in (400, 900, 1_300):
            assert packer.pack(wanted(filled, budget), request_id=NAME).slot == budget
            if apart:
                packer.flush()
        packer.flush()
        [told] = packer.pack(wanted(filled, 100)).warnings[-1:]
        assert told.startswith("request_id_taken: ")
        assert packer.pack(wanted(filled, 100)).warnings == []
        assert packer.log_losses == 0
    found = {slot: name for name, slot in logged(filled).items() if slot > 100}
    assert found[400] == NAME
    assert set(found) == {400, 900, 1_300}
    for slot in (900, 1_300):
        assert found[slot].startswith(f"{NAME}~")
    assert any(found[slot] in told for slot in (900, 1_300))


def test_a_record_that_is_written_again_is_the_same_pack(store: Store) -> None:
    store.start_run("default", now=1)
    first, second = record(1), record(2)
    assert store.write_packs("default", [first]) == []
    told = store.write_packs("default", [first, second])
    assert [asked for asked, _ in told] == [NAME]
    assert store.write_packs("default", [second, first, second]) == [*told, *told]
    [kept, other] = store.packs("default")
    assert (kept, other) == (first, replace(second, request_id=told[0][1]))


def test_many_writers_of_one_name_lose_nothing(store: Store, store_url: str) -> None:
    store.start_run("default", now=1)
    start = threading.Barrier(6)

    def write(first: int) -> None:
        with Store.open(store_url) as own:
            start.wait()
            for n in range(first, first + 20):
                own.write_packs("default", [record(n), record(n, f"other-{n % 20}")])

    threads = [threading.Thread(target=write, args=(100 * n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = list(store.packs("default"))
    assert sorted(one.at for one in found) == sorted(
        2 * [100 * n + k for n in range(6) for k in range(20)]
    )
    assert all(len(one.chunks) == 1 for one in found)


@pytest.mark.parametrize(
    "name",
    ["", " " * 3 + "\n", "x" * 201, "a\x00b", "a\ud800b", "a\nb", "\x7f", UUID(int=7), 42, b"raw"],
)
@pytest.mark.parametrize("mode", ["background", "sync", "off"])
def test_what_is_no_name_is_refused_before_packing(filled: Store, name: Any, mode: Any) -> None:
    with Packer(filled, log=mode) as packer:
        with pytest.raises(RequestError, match="request_id: ") as caught:
            packer.pack(wanted(filled, 400), request_id=name)
        assert caught.value.field == "request_id"
        assert packer.log_losses == 0
    assert logged(filled) == {}


@pytest.mark.parametrize("name", ["x" * 200, "Bestellung Nr. 42/ä", "注文-42", "~", "a'b\"c;--%_"])
def test_any_printable_name_is_kept(filled: Store, name: str) -> None:
    with Packer(filled) as packer:
        assert packer.pack(wanted(filled, 400), request_id=name).request_id == name
    assert logged(filled) == {name: 400}


def test_a_record_that_is_lost_says_why(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with Packer(filled, log="sync") as packer:
        assert packer._log is not None
        packer._log._pauses = (0.0,)
        with monkeypatch.context() as patched:
            patched.setattr(filled.database, "read_only", True)
            assert filled.read_only
            packer._log.put("default", record(1))
            packer.flush()
        [told] = packer.pack(wanted(filled, 400)).warnings
        assert told.startswith("log_dropped: 1 pack log record was lost since the last answer: ")
        assert "is read-only" in told
