"""From a question to a context on the command line, every count checked afresh."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.e2e.conftest import Cli

from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

QUESTION = "How much of the price is refunded after the refund window?"
OLD = "policies/refund-2019.md"


def count(text: str) -> int:
    return tiktoken_counter("o200k_base").count(text)


def candidates(cli: Cli, *args: object) -> str:
    return cli("search", QUESTION, "--json", *args).stdout


def pack(cli: Cli, lines: str, *args: object) -> Any:
    return cli.json("pack", "--candidates", "-", *args, input=lines)


def test_search_gives_lines_that_pack_takes(ingested: Cli) -> None:
    hits = [json.loads(line) for line in candidates(ingested, "--top", 5).splitlines()]
    assert len(hits) == 5
    assert all({"chunk_id", "score"} <= hit.keys() for hit in hits)
    assert all(hit["document"] != OLD for hit in hits)
    every = [json.loads(line) for line in candidates(ingested, "--any-status").splitlines()]
    assert any(hit["document"] == OLD and hit["status"] == "superseded" for hit in every)


@pytest.mark.parametrize("order", ["rank", "best_last", "edges", "document", "chronological"])
@pytest.mark.parametrize("strategy", ["ranked", "stop_at_first_miss", "value_per_token"])
def test_a_pack_costs_what_it_says_and_fits(ingested: Cli, order: str, strategy: str) -> None:
    lines = candidates(ingested, "--any-status")
    result = pack(ingested, lines, "--budget", 2000, "--order", order, "--strategy", strategy)
    assert result["used_tokens"] == count(result["text"]) <= 2000
    assert result["used_tokens"] == sum(block["tokens"] for block in result["blocks"])
    assert len(result["decisions"]) == len(lines.splitlines())


def test_the_superseded_policy_is_never_packed_and_says_why(ingested: Cli) -> None:
    result = pack(ingested, candidates(ingested, "--any-status"), "--budget", 4000)
    old = {c["chunk_id"] for c in ingested.lines("chunks", OLD)}
    reasons = {d["reason"] for d in result["decisions"] if d["chunk_id"] in old}
    assert reasons == {"superseded"}
    assert not old & {block["chunk_id"] for block in result["blocks"]}
    then = pack(
        ingested, candidates(ingested, "--any-status"), "--budget", 4000, "--as-of", "2020-01-01"
    )
    assert old <= {block["chunk_id"] for block in then["blocks"]}


def test_the_context_goes_to_stdout_and_the_decisions_to_stderr(ingested: Cli) -> None:
    lines = candidates(ingested, "--any-status")
    result = ingested("pack", "--budget", 1600, "--candidates", "-", input=lines)
    assert result.stdout.startswith("[Source: ")
    assert count(result.stdout) <= 1600
    assert f"{OLD} v1" in result.stderr
    assert "superseded" in result.stderr


def test_a_pinned_text_and_a_pinned_document_come_first(ingested: Cli) -> None:
    (ingested.folder / "upload.txt").write_text("The customer's own letter.\n")
    result = pack(
        ingested, candidates(ingested), "--budget", 3000, "--pin", "policies/booking-changes.md",
        "--pin-text", "upload.txt",
    )  # fmt: skip
    assert [block["pinned"] for block in result["blocks"][:2]] == [True, True]
    assert "The customer's own letter." in result["text"]
    assert result["used_tokens"] == count(result["text"])


def test_every_stored_price_is_a_fresh_count_and_under_the_cap(ingested: Cli) -> None:
    template = TEMPLATES["markdown"]
    for document in ingested.lines("docs"):
        for chunk in ingested.lines("chunks", document["document"]):
            block = chunk["header"] + chunk["text"] + template.delimiter
            assert chunk["block_tokens"] == count(block) <= 512
            parts = ("header_tokens", "text_tokens", "delimiter_tokens")
            assert chunk["block_tokens"] == sum(chunk[part] for part in parts)
            for boundary in chunk["boundaries"]:
                cut = template.cut(chunk["text"], boundary["offset"])
                fresh = count(chunk["header"] + cut + template.delimiter)
                assert boundary["block_tokens"] == fresh


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ("not json\n", "line 1"),
        ('{"chunk_id": "a"}\n', "score"),
        ('{"chunk_id": "a", "score": NaN}\n', "line 1"),
        ('{"chunk_id": "a", "score": 1}\n{"score": 1}\n', "chunk_id"),
    ],
)
def test_bad_candidates_are_one_line_naming_the_place(
    ingested: Cli, lines: str, named: str
) -> None:
    result = ingested("pack", "--budget", 100, "--candidates", "-", input=lines, code=2)
    assert result.stderr.count("\n") == 1
    assert named in result.stderr


def test_a_budget_below_one_and_pins_over_the_slot_are_refused(ingested: Cli) -> None:
    lines = candidates(ingested)
    bad = ingested("pack", "--budget", 0, "--candidates", "-", input=lines, code=2)
    assert "budget" in bad.stderr
    pins = ingested(
        "pack", "--budget", 50, "--pin", "policies/refund-2026.md", "--candidates", "-",
        input=lines, code=2,
    )  # fmt: skip
    assert "50" in pins.stderr


def test_candidates_with_a_byte_order_mark_are_read(ingested: Cli) -> None:
    (ingested.folder / "hits.jsonl").write_text(candidates(ingested), encoding="utf-8-sig")
    packed = ingested.json("pack", "--budget", 1600, "--candidates", "hits.jsonl")
    assert packed["log"]["packed"] > 0


def test_scores_are_shares_of_the_best_and_a_query_needs_a_word(ingested: Cli) -> None:
    scores = [hit["score"] for hit in ingested.lines("search", "refund window")]
    assert scores[0] == 1
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    shown = ingested("search", "refund window").stdout.splitlines()[1:]
    assert "0" not in {line.split()[0] for line in shown}
    for query in ("", " ", "?!"):
        assert "no word" in ingested("search", query, code=2).stderr


@pytest.mark.parametrize("name", ["nope", "gpt2"])
def test_an_encoding_that_is_not_at_hand_is_refused_with_those_that_are(
    ingested: Cli, name: str
) -> None:
    pack = ("pack", "--budget", 900, "--encoding", name, "--candidates", "-")
    for lines in ("", candidates(ingested)):
        refused = ingested(*pack, input=lines, code=2)
        assert refused.stderr.count("\n") == 1
        assert f"{name!r} is not at hand; use one of cl100k_base, o200k_base" in refused.stderr
    recount = ingested("recount", "--encoding", name, code=2)
    assert "cl100k_base or o200k_base" in recount.stderr
    assert "p50k_base" not in recount.stderr
    ingested("pack", "--budget", 900, "--encoding", "cl100k_base", "--candidates", "-", input="")


def test_the_line_below_the_decisions_speaks_of_the_best_eligible_candidate(
    ingested: Cli,
) -> None:
    lines = candidates(ingested, "--any-status")
    result = ingested("pack", "--budget", 1600, "--candidates", "-", input=lines)
    assert "best eligible candidate: packed" in result.stderr
    assert "rank 1" not in result.stderr


def test_slot_shows_every_term(cli: Cli) -> None:
    (cli.folder / "system.txt").write_text("You are kind.")
    args = ["slot", "--window", 8000, "--reserved-output", 1000, "--system", "@system.txt"]
    found = cli.json(*args, "--history", "Hello there", "--history", 20, "--cap", 3000)
    assert found["system"] == count("You are kind.")
    assert found["history"] == count("Hello there") + 20
    assert found["slot"] == 3000
    assert "reserved_output" in cli(*args).stdout
    assert "window 10" in cli("slot", "--window", 10, "--question", 10, code=2).stderr


def test_packs_are_logged_replayed_and_traced(ingested: Cli) -> None:
    result = pack(ingested, candidates(ingested), "--budget", 1600)
    pack(ingested, candidates(ingested), "--budget", 1600, "--no-log")
    proofs = ingested.lines("replay", "--verify")
    assert [(p["request_id"], p["verdict"]) for p in proofs] == [
        (result["request_id"], "identical")
    ]
    [comparison] = ingested.lines("replay", "--budget", 400)
    assert comparison["leaves"]
    used = ingested.lines("impact", "policies/refund-2026.md")
    assert {u["request_id"] for u in used} == {result["request_id"]}
    assert ingested.lines("impact", "handbook/complaints.docx@1") == []
    assert ingested.lines("replay", "--verify", "--request", result["request_id"]) == proofs
    for args in (
        ("impact", "nosuch"),
        ("impact", "policies/refund-2026.md@2"),
        ("impact", "policies/refund-2026.md@x"),
        ("replay", "--request", "nosuch"),
        ("replay", "--request", "nosuch", "--verify"),
        ("audit", "--sources", "samples", "--sources", "nosuch"),
    ):
        refused = ingested(*args, code=2)
        assert refused.stdout == ""
        assert refused.stderr.count("\n") == 1
        assert args[-1].partition("@")[0].removeprefix("--verify") in refused.stderr


def test_a_pack_whose_chunks_are_gone_is_no_proof(ingested: Cli) -> None:
    pack(ingested, candidates(ingested), "--budget", 1600)
    for policy in ("refund-2026", "refund-2019"):
        ingested("erase", f"policies/{policy}.md", "--yes")
    result = ingested("replay", "--verify", code=1)
    assert "0 of 1 packs rebuilt byte for byte, 1 cannot be rebuilt" in result.stderr


def test_a_search_that_finds_nothing_says_so_beside_the_data(ingested: Cli) -> None:
    result = ingested("search", "zyzzyva", "--json")
    assert result.stdout == ""
    assert result.stderr == "nothing found: no chunk in force holds one of these words\n"
    assert "no chunk holds" in ingested("search", "zyzzyva", "--any-status").stderr
