"""Logged packs on the command line: proved byte for byte, or done another way and compared."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Cli

from chunkprep_ingest.tokens import tiktoken_counter

QUESTION = "How much of the price is refunded after the refund window?"
ORDERS = ("rank", "best_last", "edges", "document", "chronological")
STRATEGIES = ("ranked", "stop_at_first_miss", "value_per_token")
POLICIES = ("policies/refund-2019.md", "policies/refund-2026.md", "policies/booking-changes.md")


def search(cli: Cli, *args: object) -> str:
    return cli("search", QUESTION, "--any-status", "--json", *args).stdout


def pack(cli: Cli, budget: int, *args: object, lines: str | None = None) -> Any:
    found = search(cli) if lines is None else lines
    return cli.json("pack", "--budget", budget, "--candidates", "-", *args, input=found)


def change_policies(cli: Cli, words: str) -> None:
    """Edit every sample policy and ingest the samples again."""
    for name in POLICIES:
        path = cli.folder / "samples" / name
        path.write_text(f"{path.read_text()}\n## {words}\n\n{words} holds from today on.\n")
    outcomes = {d["document"]: d["outcome"] for d in cli.ingest("samples")["documents"]}
    assert {outcomes[name] for name in POLICIES} == {"updated"}


def test_packs_are_proved_after_the_policies_have_been_ingested_twice_more(ingested: Cli) -> None:
    count = tiktoken_counter("o200k_base").count
    lines = search(ingested)
    extras = (
        (), ("--truncate", "any", "--floor", "fit"), ("--partial-note", "--ordinals"),
        ("--as-of", "2020-01-01"), ("--pin", "policies/booking-changes.md", "--dedupe", "near"),
    )  # fmt: skip
    packed = {}
    for (order, strategy), extra in zip(product(ORDERS, STRATEGIES), extras * 3, strict=True):
        result = pack(ingested, 1600, "--order", order, "--strategy", strategy, *extra, lines=lines)
        assert result["used_tokens"] == count(result["text"]) <= 1600
        packed[result["request_id"]] = result
    for words in ("First amendment", "Second amendment"):
        change_policies(ingested, words)
        late = pack(ingested, 1600, "--on-superseded", "forward", lines=lines)
        assert late["used_tokens"] == count(late["text"])
        assert any(d["forwarded_from"] for d in late["decisions"])
        packed[late["request_id"]] = late
    assert [v["version"] for v in ingested.lines("versions", POLICIES[1])] == [1, 2, 3]
    used = {b["document"] for result in packed.values() for b in result["blocks"]}
    assert used >= set(POLICIES)
    proofs = ingested.lines("replay", "--verify")
    assert {p["request_id"]: p["verdict"] for p in proofs} == dict.fromkeys(packed, "identical")


def test_packs_with_pinned_texts_are_counted_apart(ingested: Cli) -> None:
    (ingested.folder / "upload.txt").write_text("What the caller brought along.")
    pinned = pack(ingested, 1600, "--pin-text", "upload.txt")
    plain = pack(ingested, 1600)
    shown = ingested("replay", "--verify")
    assert (
        "1 of 2 packs rebuilt byte for byte, 1 but for pinned texts that the log does not hold"
        in shown.stderr
    )
    proofs = {p["request_id"]: p["verdict"] for p in ingested.lines("replay", "--verify")}
    assert proofs == {
        pinned["request_id"]: "identical_but_pins",
        plain["request_id"]: "identical",
    }


@pytest.mark.parametrize(
    ("change", "enters", "leaves"),
    [
        (("--budget", 3000), True, False),
        (("--budget", 500), False, True),
        (("--strategy", "stop_at_first_miss"), False, True),
        (("--strategy", "value_per_token", "--floor", "off"), True, True),
        (("--min-score", 1e9), False, True),
        (("--dedupe", "none"), False, False),
        (("--order", "rank"), False, False),
    ],
)
def test_a_change_shows_what_would_enter_and_leave(
    ingested: Cli, change: tuple[object, ...], enters: bool, leaves: bool
) -> None:
    result = pack(ingested, 1200)
    [told] = ingested.lines("replay", *change)
    assert told["request_id"] == result["request_id"]
    assert (bool(told["enters"]), bool(told["leaves"])) == (enters, leaves)
    assert told["before"]["used_tokens"] == result["used_tokens"]
    before = {b["chunk_id"] for b in result["blocks"]}
    assert not before & set(told["enters"])
    assert before >= set(told["leaves"])
    budget = change[1] if change[0] == "--budget" else 1200
    rest = change[2:] if change[0] == "--budget" else change
    again = pack(ingested, int(str(budget)), *rest, "--no-log")
    after = {b["chunk_id"] for b in again["blocks"]}
    assert after == (before | set(told["enters"])) - set(told["leaves"])
    assert told["after"]["used_tokens"] == again["used_tokens"]
    assert told["after"]["fill"] == again["log"]["fill"]


def test_the_terminal_shows_means_and_the_packs_that_change(ingested: Cli) -> None:
    result = pack(ingested, 1200)
    shown = ingested("replay", "--budget", 500)
    assert result["request_id"] in shown.stdout
    assert "chunks that leave" in shown.stdout
    assert "top_share" in shown.stdout
    assert "1 of 1 packs change" in shown.stderr
    same = ingested("replay")
    assert result["request_id"] not in same.stdout
    assert "0 of 1 packs change" in same.stderr


def test_lambda_needs_a_pack_with_vectors_and_the_rest_go_on(ingested: Cli) -> None:
    lines = search(ingested, "--top", 8).splitlines()
    candidates = [
        {**json.loads(line), "vector": [1.0, k % 3, (k * k) % 5]} for k, line in enumerate(lines)
    ]
    diverse = pack(
        ingested, 900, "--mmr", 1, "--mmr-max-similarity", 1,
        lines="\n".join(map(json.dumps, candidates)),
    )  # fmt: skip
    plain = pack(ingested, 900)
    told = {line["request_id"]: line for line in ingested.lines("replay", "--mmr", 0)}
    assert told[diverse["request_id"]]["error"] is None
    assert told[diverse["request_id"]]["enters"]
    assert "packed without diversity" in told[plain["request_id"]]["error"]
    pack(ingested, 800)
    first, last = ingested("replay", "--mmr", 0).stderr.splitlines()
    assert first.startswith(f"2 packs of 3 cannot be replayed so; {plain['request_id']}: mmr: ")
    assert last.endswith("of 1 packs change")


def test_as_now_judges_by_what_is_in_force_now(ingested: Cli) -> None:
    pack(ingested, 1600)
    ingested("withdraw", POLICIES[1], "--reason", "wrong")
    [logged] = ingested.lines("replay")
    assert not logged["leaves"]
    [now] = ingested.lines("replay", "--as-now")
    gone = {c["chunk_id"] for c in ingested.lines("chunks", POLICIES[1])}
    assert set(now["leaves"]) & gone
    assert not set(now["enters"]) & gone


def labelled(folder: Path, request: str, *quotes: str) -> Path:
    path = folder / "answers.jsonl"
    lines = [{"request": request, "document": POLICIES[1], "quote": quote} for quote in quotes]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_labelled_answers_tell_which_budget_holds_them(ingested: Cli) -> None:
    result = pack(ingested, 9000)
    texts = [c["text"] for c in ingested.lines("chunks", POLICIES[1])]
    quotes = [text.split("\n\n")[-1] for text in texts]
    path = labelled(ingested.folder, result["request_id"], *quotes, "words that nobody wrote")
    [wide] = ingested.lines("replay", "--labels", path)
    [narrow] = ingested.lines("replay", "--labels", path, "--budget", 300)
    assert wide["spans"]["labelled"] == len(quotes) + 1
    assert wide["spans"]["before"] == wide["spans"]["after"] == len(quotes)
    assert narrow["spans"]["before"] == len(quotes) > narrow["spans"]["after"]
    shown = ingested("replay", "--labels", path, "--budget", 300).stdout
    assert f"share of {len(quotes) + 1} labelled spans" in shown


def test_labels_that_are_wrong_are_refused_with_their_line(ingested: Cli) -> None:
    pack(ingested, 900)
    (ingested.folder / "answers.jsonl").write_text('{"request": "r"}\n')
    said = ingested("replay", "--labels", "answers.jsonl", code=2).stderr
    assert "line 1" in said
    assert said.count("\n") == 1


def test_a_proof_takes_no_change_but_minds_no_default_of_packing(
    ingested: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(ingested, 900)
    assert (
        "--verify takes no change"
        in ingested("replay", "--verify", "--floor", "off", code=2).stderr
    )
    monkeypatch.setenv("CHUNKPREP_BUDGET", "500")
    assert [p["verdict"] for p in ingested.lines("replay", "--verify")] == ["identical"]
