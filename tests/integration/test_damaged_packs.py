"""A logged pack whose row was damaged: it is counted and named, and the others are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.support.ingesting import chunk_ids, ingest

from chunkprep_flows.report import gather, report_record
from chunkprep_flows.report_sections import sections
from chunkprep_packer import Candidate, Packer, PackRequest, Replayer, log_figures
from chunkprep_packer.logged_result import logged_result
from chunkprep_packer.pack_findings import signature_findings
from chunkprep_packer.pages.report import report_facts, report_html
from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.clock import now
from chunkprep_packer.service.inspector import inspector_router
from chunkprep_packer.service.settings import ServiceSettings
from chunkprep_packer.signatures import tally
from chunkprep_store import Store
from chunkprep_store.audit.lists import UnreadableError
from chunkprep_store.tables import packs, versions

NOW = 1_700_000_000_000_000


@pytest.fixture
def packed(store: Store) -> Store:
    """Two logged packs, `bad` and `good`."""
    ingest(store, "a.md", "# A\n\nOne two three. Four five.\n", now=NOW)
    request = PackRequest(
        budget=500, candidates=[Candidate(name, 1.0) for name in chunk_ids(store, "a.md")]
    )
    with Packer(store, log="sync", clock=lambda: NOW + 5) as packer:
        for name in ("bad", "good"):
            packer.pack(request, request_id=name)
    return store


def damage(store: Store, **values: str) -> None:
    with store.database.write() as connection:
        bad = packs.update().where(packs.c.request_id == "bad")
        assert connection.execute(bad.values(**values)).rowcount == 1


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda result: result.pop(name)


CHANGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no blocks": without("blocks"),
    "no decisions": without("decisions"),
    "no figures": without("log"),
    "blocks of numbers": lambda result: result.update(blocks=[1]),
    "figures in words": lambda result: result["log"].update(fill="full", slot=None),
    "decisions without an outcome": lambda result: result["decisions"][0].pop("outcome"),
}
TEXTS = ("{x", "7", "[]", "{}", "null")


def damaged(store: Store, kind: str) -> None:
    if kind in TEXTS:
        damage(store, result=kind)
        return
    record = next(store.packs("default", request_id="bad"))
    result = json.loads(record.result_json)
    CHANGED[kind](result)
    damage(store, result=json.dumps(result))


@pytest.mark.parametrize("kind", [*TEXTS, *CHANGED])
def test_a_damaged_result_is_one_error_and_ends_nothing(packed: Store, kind: str) -> None:
    damaged(packed, kind)
    bad = next(packed.packs("default", request_id="bad"))
    with pytest.raises(UnreadableError, match="pack bad: its result cannot be read"):
        logged_result(bad)
    records = list(packed.packs("default"))
    found = log_figures(records)
    assert (found.packs, found.unreadable, tally(records).unreadable) == (1, 1, 1)
    verdicts = {one.request_id: one for one in Replayer(packed, "default").verify(records)}
    assert (verdicts["bad"].verdict, verdicts["good"].verdict) == ("differs", "identical")
    assert "cannot be read" in verdicts["bad"].detail
    replayed = {one.request_id: one for one in Replayer(packed, "default").replay(records, {})}
    assert replayed["bad"].before is None
    assert replayed["good"].after is not None


@pytest.mark.parametrize("kind", [*TEXTS, "no blocks", "no decisions", "no figures"])
def test_the_audit_names_a_damaged_result(packed: Store, kind: str) -> None:
    damaged(packed, kind)
    (found,) = packed.audit("default", now=NOW + 10, checks=["pack_log"])
    assert found.severity == "error"
    assert found.message.startswith("pack bad: ")
    (counted,) = signature_findings(packed, "default", now=NOW + 10)
    assert (counted.check, counted.severity) == ("signatures", "warning")
    assert counted.message.startswith("1 ")


@pytest.mark.parametrize("kind", [*TEXTS])
def test_a_damaged_request_is_named_and_ends_nothing(packed: Store, kind: str) -> None:
    damage(packed, request=kind)
    records = list(packed.packs("default"))
    assert log_figures(records).packs == 2
    replayed = {one.request_id: one for one in Replayer(packed, "default").replay(records, {})}
    assert replayed["bad"].before is None
    assert "cannot be read" in replayed["bad"].detail
    assert replayed["good"].after is not None
    (found,) = packed.audit("default", now=NOW + 10, checks=["pack_log"])
    assert "cannot be read" in found.message
    facts = report_facts(packed, "default", at=NOW + 10)
    assert [pack["request_id"] for pack in facts["packs"]] == ["good"]


def test_the_report_and_the_pages_count_it(packed: Store) -> None:
    damage(packed, result="{x")
    gathered = gather(packed, "default", now=NOW + 10)
    assert report_record(gathered)["packs"]["unreadable"] == 1
    assert any("1 more cannot be read" in section.lead for section in sections(gathered))
    facts = report_facts(packed, "default", at=NOW + 10)
    assert facts["health"]["packs"]["unreadable"] == 1
    assert (len(facts["packs"]), facts["left_out"]["packs"]) == (1, 1)
    assert "cannot be read" in report_html(facts)
    app = create_app(ServiceSettings(packed.url), routers=[inspector_router()])
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        health = client.get("/pages/default/health")
        assert (health.status_code, "cannot be read" in health.text) == (200, True)
        assert client.get("/pages/default/packs").status_code == 200
        page = client.get("/pages/default/pack/bad")
        assert (page.status_code, "pack bad: its result cannot be read" in page.text) == (500, True)
        assert client.get("/v1/packs/bad").status_code == 500
        assert client.get("/v1/packs/good").status_code == 200


def test_over_http_packs_are_compared_with_their_json_only_where_that_is_asked_for(
    packed: Store,
) -> None:
    """`pack_log` took longer than the client waits, in a log of some tens of thousands of packs."""
    with packed.database.write() as connection:
        connection.execute(packs.update().values(at=now(), result="{x"))
        connection.execute(versions.update().values(tokens=1))
    with TestClient(create_app(ServiceSettings(packed.url)), base_url="http://localhost") as client:

        def checks(*asked: str) -> set[str]:
            answer = client.get("/v1/audit", params={"check": asked})
            return {one["check"] for one in answer.json()["findings"]}

        assert checks() == {"count_drift", "signatures"}
        assert checks("pack_log") == {"pack_log"}
        assert checks("pack_log", "count_drift") == {"pack_log", "count_drift"}
