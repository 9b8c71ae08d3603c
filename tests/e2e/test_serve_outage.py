"""The database goes away under a running service, and comes back."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from tests.support.running import Desk
from tests.support.serving import serving


@pytest.mark.postgres
def test_an_outage_is_told_and_ends_without_a_restart(
    postgres_url: str, postgres_server: str, tmp_path: Path
) -> None:
    desk = Desk(tmp_path / "docs", postgres_url)
    desk.write("a.md", "# A\n\nA text.\n")
    desk.run()
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    with (
        psycopg.connect(postgres_server, autocommit=True) as server,
        serving(postgres_url, tmp_path) as served,
    ):
        request = {"budget": 99, "candidates": served.candidates("text")}
        assert served.post("/v1/pack", request).status_code == 200
        server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        for answer in (served.post("/v1/pack", request), served.get("/readyz")):
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert name not in answer.text
        assert served.get("/healthz").status_code == 200
        assert served.get("/metrics").status_code == 200
        server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert served.post("/v1/pack", request).status_code == 200
        assert served.get("/readyz").status_code == 200
        assert served.stop() == 0
    told = [line for line in served.lines() if line["event"] == "error"]
    assert told
    assert all("does not answer" in line["message"] and "trace" not in line for line in told)
