"""The SQLite file is moved, replaced or deleted under a running service."""

from __future__ import annotations

import shutil
from typing import Any

import httpx
from tests.e2e.conftest import Cli
from tests.support.serving import Served, serving

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def not_ready(served: Served) -> tuple[httpx.Response, dict[str, Any]]:
    """The answer of a probe that fails, and the line of the log that says why."""
    answer = served.client.get("/readyz", headers={"traceparent": PARENT})
    line = served.line(event="error", request_id=answer.headers["x-request-id"])
    assert line["trace_id"] == TRACE
    return answer, line


def test_a_service_whose_file_is_not_there_any_more_is_not_ready(ingested: Cli) -> None:
    path = ingested.folder / "chunkprep.db"
    away = path.with_name("away.db")
    with serving(ingested.url, ingested.folder) as served:
        request = {"budget": 600, "candidates": served.candidates("refund window")}
        assert served.get("/readyz").status_code == 200

        path.rename(away)
        answer, line = not_ready(served)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_moved")
        assert int(answer.headers["retry-after"]) > 0
        assert str(ingested.folder) not in answer.text
        assert "trace" not in line
        for told in (str(path), "moved or deleted", "put the file back", "--store"):
            assert told in line["message"]
        assert served.get("/healthz").status_code == 200
        assert served.post("/v1/pack", request).status_code == 200
        assert not path.exists()

        shutil.copyfile(away, path)
        answer, line = not_ready(served)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_moved")
        assert "replaced by another file" in line["message"]

        away.rename(path)
        assert served.get("/readyz").status_code == 200
        assert served.post("/v1/pack", request).status_code == 200

        path.unlink()
        assert served.get("/readyz").status_code == 503
        assert served.stop() == 0


def test_a_worker_that_finds_no_file_says_so_and_opens_it_when_it_is_there(ingested: Cli) -> None:
    path = ingested.folder / "chunkprep.db"
    away = path.with_name("away.db")
    with serving(ingested.url, ingested.folder) as served:
        path.rename(away)  # nothing has been opened yet
        answer, line = not_ready(served)
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert "there is no store" in line["message"]
        assert "trace" not in line
        assert not path.exists()
        away.rename(path)
        assert served.get("/readyz").status_code == 200
