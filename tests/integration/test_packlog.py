"""The log of packs, and runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chunkprep_ingest.model import PreparedVersion
from chunkprep_store import PackedChunk, PackRecord, Store

Prepare = Callable[..., PreparedVersion]


def record(request_id: str, at: int, *chunk_ids: str) -> PackRecord:
    return PackRecord(
        request_id=request_id,
        at=at,
        as_of=at,
        encoding="words",
        slot=100,
        used_tokens=50,
        request_json='{"budget": 100}',
        result_json="{}",
        warnings=("rank1_too_large: 1",),
        chunks=tuple(PackedChunk(c, n, None if n else 7) for n, c in enumerate(chunk_ids)),
    )


def test_records_come_back_as_written_and_once(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", "One.\n\nTwo."), now=1)
    ids = [r.chunk_id for r in store.chunks("c", "a.md")]
    records = [record("r1", 10, *ids), record("r2", 20), record("r3", 30, ids[1], "unknown")]
    store.write_packs("c", records)
    store.write_packs("c", records)
    store.write_packs("c", [])
    assert list(store.packs("c")) == records
    assert list(store.packs("c", since=20)) == records[1:]
    assert list(store.packs("c", request_id="r3")) == [records[2]]


def test_records_are_found_by_what_their_request_holds(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", "One."), now=1)
    texts = ['{"id": "a%b"}', '{"id": "a_b"}', '{"id": "a/b"}', '{"id": "axb"}']
    records = [replace(record(f"r{n}", n), request_json=text) for n, text in enumerate(texts)]
    store.write_packs("c", records)
    for each in records:
        assert list(store.packs("c", holds=each.request_json)) == [each]
    assert list(store.packs("c", holds='"id"')) == records
    assert list(store.packs("c", 2, holds='"id"')) == records[2:]


def test_impact_names_the_packs_that_used_a_document(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", "One.\n\nTwo."), now=1)
    old = [r.chunk_id for r in store.chunks("c", "a.md")]
    store.write_version("c", prepare("a.md", "One.\n\nThree."), now=5)
    new = [r.chunk_id for r in store.chunks("c", "a.md")]
    store.write_version("c", prepare("b.md", "Other."), now=5)
    other = [r.chunk_id for r in store.chunks("c", "b.md")]
    store.write_packs(
        "c", [record("r1", 4, *old), record("r2", 9, new[0]), record("r3", 9, *other)]
    )
    assert {i.request_id for i in store.impact("c", "a.md")} == {"r1", "r2"}
    assert {(i.request_id, i.version) for i in store.impact("c", "a.md", 2)} == {("r2", 2)}
    assert store.impact("c", "b.md")[0].offset == 7


def test_a_version_that_is_told_is_kept_though_its_chunk_is_gone(
    store: Store, prepare: Prepare
) -> None:
    store.write_version("c", prepare("a.md", "One.\n\nTwo."), now=1)
    first, second = store.chunks("c", "a.md")
    assert first.version_id == second.version_id is not None
    told = (PackedChunk("gone", 0, 3, first.version_id), PackedChunk(second.chunk_id, 1))
    store.write_packs("c", [replace(record("r1", 10), chunks=told)])
    found = store.impact("c", "a.md")
    assert [(i.chunk_id, i.version, i.offset) for i in found] == [
        ("gone", 1, 3),
        (second.chunk_id, 1, None),
    ]


def test_a_batch_larger_than_a_statement_is_written_whole(store: Store) -> None:
    store.start_run("c", now=1)
    records = [record(f"r{n}", n, *(f"{n}-{m}" for m in range(n % 4))) for n in range(105)]
    store.write_packs("c", records[::3])
    store.write_packs("c", records)
    assert list(store.packs("c")) == records


def test_runs_are_recorded(store: Store) -> None:
    run = store.start_run("c", now=10, settings={"cap": 512})
    store.finish_run(run, now=20, summary={"seen": 0})
    store.finish_run(run, now=25, summary={"error": "later"}, once=True)
    named = store.start_run("c", now=30, kind="audit", run_id="mine", flow_run_id="prefect's")
    assert named == "mine"
    latest, first = store.runs("c")
    assert (latest.run_id, latest.finished_at, latest.summary) == ("mine", None, None)
    assert (latest.flow_run_id, first.flow_run_id) == ("prefect's", None)
    assert (first.settings, first.summary, first.finished_at) == ({"cap": 512}, {"seen": 0}, 20)
