"""The runs page: how fresh a collection is, what its runs did, and who may see that."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from tests.support.ingesting import ingest

from chunkprep_packer import collection_freshness
from chunkprep_packer.pages.router import Viewer, pages_router
from chunkprep_packer.pages.runs_page import LISTED
from chunkprep_store import Store

HOUR = 3_600_000_000
NOW = 1_700_000_000_000_000


def client_of(store: Store, *, whole: bool = True) -> TestClient:
    def caller(request: Request, collection: str | None) -> Viewer:
        return Viewer(whole=whole)

    app = FastAPI()
    app.include_router(pages_router(lambda _: store, clock=lambda: NOW, caller=caller))
    return TestClient(app)


def read(store: Store, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client_of(store).get(f"/pages/c/runs?format=json{query}").json()
    return found


def ran(store: Store, hours_ago: int, summary: dict[str, object] | None, **more: Any) -> str:
    """A run that took a minute and ended so; None: nothing says how."""
    begin = NOW - hours_ago * HOUR
    run_id = store.start_run("c", now=begin, **more)
    if summary is not None:
        store.finish_run(run_id, now=begin + 60_000_000, summary=summary)
    return run_id


def saw(source: str, documents: int, **more: Any) -> dict[str, Any]:
    """What a run's record says of a source that was listed to its end."""
    return {"source": source, "listed": True, "documents": documents, **more}


def test_freshness_is_of_the_last_ingest_that_looked_at_everything(store: Store) -> None:
    assert client_of(store).get("/pages/c/runs").status_code == 404
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection="c", uri="file:///srv/docs/a.md")
    assert "No ingest has looked at all" in client_of(store).get("/pages/c/runs").text
    docs = saw("file:///srv/docs", 3)
    ran(store, 40, {"new": 3, "failed": 0, "stopped": False, "looked_at": [docs]})
    ran(store, 20, {"unchanged": 2, "failed": 1, "looked_at": [{**docs, "failed": 1}]})
    ran(store, 10, {"chunks": 8, "stopped": False}, kind="recount")
    ran(store, 8, {"new": 1, "failed": 0, "looked_at": [docs]}, kind="retry")
    ran(store, 5, {"new": 1, "left": 4, "stopped": True, "warnings": ["waited: `--store`"]})
    ran(store, 4, {"stopped": True, "error": "OSError: disk full"})
    ran(store, 3, None)
    facts = read(store)
    assert [one["ended"] for one in facts["runs"]] == [
        "unfinished", "error", "stopped", "done", "done", "failures", "done",
    ]  # fmt: skip
    assert (facts["whole_hours"], facts["clean_hours"]) == (20.0, 40.0)
    assert facts["whole"]["counts"] == {"unchanged": 2, "failed": 1}
    stopped = facts["runs"][2]
    assert (stopped["left"], stopped["seconds"], stopped["counts"]) == (4, 60.0, {"new": 1})
    page = client_of(store).get("/pages/c/runs").text
    assert "disk full" in page
    assert "<code>--store</code>" in page
    assert "Without a failure" in page
    assert "/srv/docs" in page
    listed = client_of(store).get("/pages?format=json").json()
    assert listed["freshness"]["c"]["whole_hours"] == 20.0


def test_a_run_that_found_nothing_is_not_what_freshness_is_of(store: Store) -> None:
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection="c", uri="file:///srv/docs/a.md")
    ran(store, 40, {"unchanged": 1, "looked_at": [saw("file:///srv/docs", 1)]})
    lost = {**saw("file:///srv/nosuch", 0), "listed": False}
    ran(store, 2, {"failed": 1, "looked_at": [lost, saw("file:///srv/docs", 0)]})
    facts = read(store)
    assert (facts["whole_hours"], facts["clean_hours"]) == (40.0, 40.0)
    docs, nosuch = facts["sources"]
    assert (docs["documents"], docs["whole_hours"]) == (1, 40.0)
    assert "nothing was found" in docs["remedy"]
    assert (nosuch["documents"], nosuch["whole_at"]) == (0, None)
    assert "could not be listed" in nosuch["remedy"]


def test_the_collection_is_as_fresh_as_its_oldest_source(store: Store) -> None:
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection="c", uri="file:///srv/docs/a.md")
    ingest(store, "x/b.md", "# B\n\nText.", now=NOW, collection="c", uri="s3://b/x/b.md")
    ran(store, 2000, {"unchanged": 1, "looked_at": [saw("s3://b", 1)]})
    for hour in range(80):
        ran(store, hour + 1, {"unchanged": 1, "looked_at": [saw("file:///srv/docs", 1)]})
    facts = read(store)
    assert facts["whole_hours"] == 2000.0
    assert [one["whole_hours"] for one in facts["sources"]] == [1.0, 2000.0]
    store.withdraw("c", "x/b.md", now=NOW, reason="gone", by="hand")
    assert read(store)["whole_hours"] == 1.0


def test_runs_are_paged(store: Store) -> None:
    for hour in range(LISTED + 7):
        ran(store, hour + 1, {"unchanged": 1})
    facts = read(store)
    assert (facts["found"], len(facts["runs"]), facts["next"]) == (LISTED + 7, LISTED, LISTED)
    later = read(store, f"&first={LISTED}")
    assert (len(later["runs"]), later["previous"], later["next"]) == (7, 0, None)
    assert facts["runs"][0]["started_at"] > later["runs"][0]["started_at"]
    assert 'rel="next"' in client_of(store).get("/pages/c/runs").text
    assert client_of(store).get("/pages/c/runs?first=x").status_code == 422


def test_a_flow_run_is_linked_where_its_address_is_one(store: Store) -> None:
    address = "https://prefect.example/runs/flow-run/a"
    ran(store, 2, {"flow_run_url": address}, flow_run_id="a")
    ran(store, 1, {"flow_run_url": "javascript:alert(1)"}, flow_run_id="<b>")
    page = client_of(store).get("/pages/c/runs").text
    assert f'<a href="{address}"' in page
    assert "javascript" not in page
    assert "&lt;b&gt;" in page


def test_what_fails_now_has_its_remedy(store: Store) -> None:
    run_id = ran(store, 1, {"failed": 1})
    store.record_failure(
        "c", "x.pdf", uri="file:///x.pdf", code="corrupt", message="no PDF", remedy="save it again",
        now=NOW, run_id=run_id,
    )  # fmt: skip
    facts = read(store)
    assert facts["codes"] == {"corrupt": 1}
    [failure] = facts["failures"]
    assert (failure["remedy"], failure["run_id"]) == ("save it again", run_id)
    page = client_of(store).get("/pages/c/runs").text
    assert "save it again" in page


@pytest.mark.parametrize("whole", [True, False])
def test_runs_are_for_those_who_may_see_the_whole(store: Store, whole: bool) -> None:
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection="c")
    client = client_of(store, whole=whole)
    assert client.get("/pages/c/runs").status_code == (200 if whole else 403)
    assert ("c" in client.get("/pages?format=json").json()["freshness"]) is whole


def test_a_source_without_a_look_in_reach_was_never_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, "a.md", "# A\n\nText.", now=NOW, collection="c", uri="file:///srv/docs/a.md")
    ingest(store, "b.md", "# B\n\nText.", now=NOW, collection="c", uri="file:///srv/more/b.md")
    ran(store, 3, None)  # killed, after it had written b.md
    ran(store, 1, {"unchanged": 1, "looked_at": [saw("file:///srv/docs", 1)]})
    facts = read(store)
    assert facts["whole"] is None
    docs, more = facts["sources"]
    assert (docs["whole_hours"], docs["remedy"]) == (1.0, None)
    assert (more["documents"], more["whole_at"], more["last_ended"]) == (1, None, None)
    assert "no ingest of it is known" in more["remedy"]
    assert "/srv/more" in client_of(store).get("/pages/c/runs").text
    monkeypatch.setattr(collection_freshness, "FAR", 1)
    ran(store, 0, {"failed": 0, "looked_at": [saw("file:///srv/more", 1)]})
    assert [one["whole_hours"] for one in read(store)["sources"]] == [1.0, 0.0]
    monkeypatch.setattr(collection_freshness, "_AT_ONCE", 1)
    assert [one["whole_hours"] for one in read(store)["sources"]] == [None, 0.0]
