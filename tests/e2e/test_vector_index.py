"""The worked example: a real vector index that follows the change feed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.e2e.conftest import ROOT, Cli
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_flows.opened import now
from chunkprep_store import Store

DAY = 86_400_000_000
SECTIONS = {
    "Window": "Refunds are paid within thirty days of the booking, whatever the fare may be.",
    "Luggage": "Luggage that comes late is paid for by the carrier, who wants the tag.",
    "Weather": "Bad weather moves a departure, and nobody pays anybody anything for it.",
}


def handbook(**changed: str) -> str:
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in {**SECTIONS, **changed}.items())


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vector_index", ROOT / "examples/vector_index.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["vector_index"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def index(example: ModuleType, tmp_path: Path) -> Any:
    return example.VectorIndex(str(tmp_path / "vectors.db"), "default")


def put(store: Store, document: str, text: str, **metadata: Any) -> None:
    ingest(store, document, text, now=now(), cap=40, **metadata)


def audit(store: Store, index: Any, at: int | None = None) -> list[str]:
    found = store.audit(
        "default", now=at or now(), checks=["index_stale", "index_missing"],
        index_ids=frozenset(index.ids()),
    )  # fmt: skip
    return [f"{f.check} {f.document}: {f.message}" for f in found]


def test_an_ingest_an_edit_and_a_withdrawal_leave_the_index_in_step(
    store: Store, index: Any
) -> None:
    put(store, "handbook.md", handbook())
    put(store, "offer.md", "Summer journeys cost less until the end of May.")
    first = index.sync(store)
    assert (first.embedded, first.reused) == (4, 0)
    assert audit(store, index) == []

    put(store, "handbook.md", handbook(Luggage="Luggage is always paid for by us, at once."))
    assert len(audit(store, index)) == 6  # three old ids, three that are not there yet
    second = index.sync(store)
    assert (second.embedded, second.reused, second.removals) == (1, 2, 3)
    assert audit(store, index) == []
    assert sorted(index.ids()) == sorted(
        [*chunk_ids(store, "handbook.md"), *chunk_ids(store, "offer.md")]
    )

    store.withdraw("default", "offer.md", now=now(), reason="over")
    third = index.sync(store)
    assert (third.embedded, third.removals) == (0, 1)
    assert audit(store, index) == []
    assert index.ids() == sorted(chunk_ids(store, "handbook.md"))
    assert index.sync(store) == type(third)(cursor=third.cursor)


def test_the_nearest_chunk_is_the_one_that_answers(store: Store, index: Any) -> None:
    put(store, "handbook.md", handbook())
    index.sync(store)
    hits = index.search("who pays for late luggage?", 3)
    texts = {row.chunk_id: row.text for row in store.chunks("default", "handbook.md")}
    assert SECTIONS["Luggage"] in texts[hits[0]["chunk_id"]]
    assert [hit["score"] for hit in hits] == sorted((h["score"] for h in hits), reverse=True)


def test_dates_that_pass_need_no_entry(store: Store, example: ModuleType, tmp_path: Path) -> None:
    today = now()
    yesterday, soon, tomorrow, later = (today + n * DAY for n in (-1, 1, 2, 3))
    ingest(store, "coming.md", "Winter journeys start in October.", now=today, valid_from=tomorrow)
    ingest(store, "going.md", "Summer journeys end in May.", now=today, valid_to=soon)
    clock = [today]
    index = example.VectorIndex(str(tmp_path / "vectors.db"), "default", clock=lambda: clock[0])
    index.sync(store)
    assert len(index.ids()) == 2
    assert [h["chunk_id"] for h in index.search("journeys", 5)] == chunk_ids(store, "going.md")
    for moment in (soon, tomorrow, later):
        clock[0] = moment
        found = [hit["chunk_id"] for hit in index.search("journeys", 5)]
        assert found == ([] if moment == soon else chunk_ids(store, "coming.md"))
    assert index.sync(store).expired == 1
    assert audit(store, index, at=later) == []
    clock[0] = yesterday
    store.set_metadata("default", "coming.md", {"valid_from": None}, now=today)
    index.sync(store)
    assert index.ids() == chunk_ids(store, "coming.md")


def test_a_sync_that_is_interrupted_goes_on_where_it_stopped(
    store: Store, example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "PAGE", 2)
    put(store, "handbook.md", handbook())
    calls: list[str] = []

    def embed(text: str) -> list[float]:
        calls.append(text)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return list(example.hashed_words(text))

    path = str(tmp_path / "vectors.db")
    with pytest.raises(KeyboardInterrupt):
        example.VectorIndex(path, "default", embed).sync(store)
    again = example.VectorIndex(path, "default")
    assert (again.cursor(), len(again.ids())) == (2, 2)
    again.sync(store)
    assert audit(store, again) == []


def test_the_audit_command_takes_the_ids_and_pack_the_candidates(
    cli: Cli, example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    (cli.folder / "handbook.md").write_text(handbook())
    cli.ingest("handbook.md")
    example.main(["sync"])
    example.main(["ids"])
    (cli.folder / "ids.txt").write_text(capsys.readouterr().out)
    assert cli.lines("audit", "--index-ids", "ids.txt") == []
    example.main(["search", "late luggage", "--top", "2"])
    packed = cli.json("pack", "--budget", 500, "--candidates", "-", input=capsys.readouterr().out)
    assert {d["outcome"] for d in packed["decisions"]} == {"packed"}
