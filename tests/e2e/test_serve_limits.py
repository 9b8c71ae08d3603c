"""What one request may ask for, as options of `chunkprep serve` and from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.conftest import Cli
from tests.support.running import Desk
from tests.support.serving import serving

LIMITS = ("--max-body", "2000", "--max-candidates", "2", "--max-vector", "3", "--max-top", "5",
          "--max-page", "1", "--threads", "2")  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Two documents."""
    desk = Desk(tmp_path / "docs", f"sqlite:///{tmp_path / 'store.db'}")
    desk.write("a.md", "# A\n\nA text.\n")
    desk.write("b.md", "# B\n\nB text.\n")
    desk.run()
    return desk.url


def hits(number: int, vector: int | None = None) -> list[dict[str, object]]:
    more = {} if vector is None else {"vector": [0.5] * vector}
    return [{"chunk_id": f"c{n}", "score": 1, **more} for n in range(number)]


def test_each_limit_refuses_what_is_over_it_and_nothing_else(store: str, tmp_path: Path) -> None:
    with serving(store, tmp_path, *LIMITS) as served:

        def refused(path: str, **body: object) -> tuple[int, str | None]:
            answer = served.post(path, body)
            return answer.status_code, answer.json().get("field")

        assert refused("/v1/pack", budget=9, candidates=hits(2, 3))[0] == 200
        assert refused("/v1/pack", budget=9, candidates=hits(3)) == (422, "candidates")
        assert refused("/v1/pack", budget=9, candidates=[], pin=["a"] * 3) == (422, "pin")
        vectors = refused("/v1/pack", budget=9, candidates=hits(1, 4))
        assert vectors == (422, "candidates.vector")
        query = refused("/v1/pack", budget=9, candidates=[], query_vector=[0.5] * 4)
        assert query == (422, "query_vector")
        assert refused("/v1/search", query="text", top=5)[0] == 200
        assert refused("/v1/search", query="text", top=6) == (422, "top")
        assert refused("/v1/search", query="t" * 2000, top=5)[0] == 413
        page = served.get("/v1/documents", limit=10).json()
        assert (len(page["documents"]), page["next"]) == (1, "a.md")
        assert len(served.get("/v1/changes").json()["changes"]) == 1


def test_a_limit_may_come_from_the_environment(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKPREP_MAX_CANDIDATES", "1")
    with serving(store, tmp_path) as served:
        body = {"budget": 9, "candidates": hits(2)}
        assert served.post("/v1/pack", body).json()["field"] == "candidates"


@pytest.mark.parametrize("wrong", [("--max-body", 0), ("--threads", 31), ("--max-top", "many")])
def test_limits_that_let_nothing_through_are_refused(cli: Cli, wrong: tuple[str, object]) -> None:
    assert wrong[0] in cli("serve", *wrong, code=2).stderr
