"""The figure of freshness in /metrics: the store's, and no scrape waits for one that is away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Event

from fastapi.testclient import TestClient
from tests.support.ingesting import ingest

from chunkprep_ingest.errors import UnavailableError
from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.last_whole import ASK_SECONDS, LastWhole
from chunkprep_packer.service.settings import ServiceSettings
from chunkprep_store import Store

NOW = 1_700_000_000_000_000
GAUGE = "chunkprep_last_whole_ingest_timestamp_seconds"


def looked_at_whole(store: Store, collection: str, *, finished_at: int) -> None:
    look = {"source": "file:///srv/docs", "listed": True, "documents": 1}
    run_id = store.start_run(collection, now=finished_at - 1)
    store.finish_run(run_id, now=finished_at, summary={"looked_at": [look]})


def written(store: Store, collection: str) -> None:
    uri = "file:///srv/docs/a.md"
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection=collection, uri=uri)


def test_each_collection_has_its_moment_and_0_is_never(store: Store) -> None:
    figures = LastWhole()
    assert figures.figures(lambda: store) == {}
    written(store, "default")
    looked_at_whole(store, "default", finished_at=NOW + 500_000)
    written(store, "hr")
    assert figures.figures(lambda: store) == {}, "asked just now"
    assert LastWhole().figures(lambda: store) == {"default": 1_700_000_000.5, "hr": 0.0}


def test_what_was_asked_a_while_ago_is_asked_again(store: Store) -> None:
    moment = 0.0
    figures = LastWhole(clock=lambda: moment)
    written(store, "default")
    assert figures.figures(lambda: store) == {"default": 0.0}
    looked_at_whole(store, "default", finished_at=NOW)
    assert figures.figures(lambda: store) == {"default": 0.0}
    moment = ASK_SECONDS + 1
    assert figures.figures(lambda: store) == {"default": 1_700_000_000.0}

    def away() -> Store:
        raise UnavailableError("the database does not answer")

    moment += ASK_SECONDS + 1
    assert figures.figures(away) == {}


def test_a_store_that_hangs_is_not_waited_for(store: Store) -> None:
    written(store, "default")
    back = Event()
    asked = 0

    def hanging() -> Store:
        nonlocal asked
        asked += 1
        back.wait()
        return store

    moment = 0.0
    figures = LastWhole(patience=0.01, clock=lambda: moment)
    assert figures.figures(hanging) == {}
    moment = ASK_SECONDS + 1
    assert figures.figures(hanging) == {}
    assert asked == 1, "one question at a time"
    back.set()
    found: Mapping[str, float] = {}
    while not found:
        found = figures.figures(hanging)
    assert found == {"default": 0.0}


def test_metrics_tell_it_and_are_answered_without_a_store(store: Store, tmp_path: Path) -> None:
    written(store, 'a "b"')
    looked_at_whole(store, 'a "b"', finished_at=NOW)
    with TestClient(create_app(ServiceSettings(store=store.url))) as client:
        text = client.get("/metrics").text
        assert f'{GAUGE}{{collection="a \\"b\\""}} 1.7e+09' in text
        assert "chunkprep_log_losses_total" in text
    absent = ServiceSettings(store=f"sqlite:///{tmp_path / 'absent.db'}")
    with TestClient(create_app(absent)) as client:
        answer = client.get("/metrics")
        assert answer.status_code == 200
        assert f"\n{GAUGE}{{" not in answer.text
