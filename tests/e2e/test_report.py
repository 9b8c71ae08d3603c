"""Failure signatures in the audit, and the report, through the command line."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Cli

QUESTION = "How much of the price is refunded after the refund window?"


def pack_often(cli: Cli, times: int, budget: int) -> None:
    """Log the same pack so many times."""
    lines = cli("search", QUESTION, "--json", "--top", 8).stdout
    for _ in range(times):
        cli("pack", "--budget", budget, "--candidates", "-", input=lines)


def codes(findings: list[Any]) -> set[str]:
    return {f["message"].partition(":")[0] for f in findings if f["check"] == "signatures"}


def test_the_audit_names_signatures_once_there_are_some_tens_of_packs(ingested: Cli) -> None:
    pack_often(ingested, 6, 60)
    assert codes(ingested.lines("audit")) == set()
    asked = ingested.lines("audit", "--check", "signatures")
    assert {"rank1_too_long", "chronically_empty"} & codes(asked)
    assert {f["check"] for f in asked} == {"signatures"}
    pack_often(ingested, 30, 60)
    found = [f for f in ingested.lines("audit") if f["check"] == "signatures"]
    assert codes(found) == codes(asked)
    assert all(f["severity"] in ("info", "warning") and f["remedy"] for f in found)
    assert any("36 of 36 packs" in f["message"] for f in found)


def test_an_unknown_check_is_refused_with_the_list(ingested: Cli) -> None:
    said = ingested("audit", "--check", "vibes", code=2).stderr
    assert "'vibes' is no check" in said
    assert "signatures" in said
