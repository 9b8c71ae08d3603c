"""supersede, withdraw, restore, set, erase, prune, changes, audit and sync on the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tests.e2e.conftest import Cli

from chunkprep_ingest.tokens import tiktoken_counter


@pytest.fixture
def two(cli: Cli) -> Cli:
    """A store of two documents, a.md and b.md."""
    (cli.folder / "docs").mkdir()
    write(cli, a="# A\n\nApples are red.\n", b="# B\n\nBananas are yellow.\n")
    cli.ingest("docs")
    return cli


def write(cli: Cli, **texts: str) -> None:
    for name, text in texts.items():
        (cli.folder / "docs" / f"{name}.md").write_text(text)


def statuses(cli: Cli) -> dict[str, str]:
    return {d["document"]: d["status"] for d in cli.lines("docs")}


def found(cli: Cli, query: str, *args: object) -> set[str]:
    return {hit["document"] for hit in cli.lines("search", query, *args)}


def test_supersede_takes_the_old_document_out_of_search(two: Cli) -> None:
    two("supersede", "a.md", "b.md", "--reason", "merged")
    assert statuses(two) == {"a.md": "superseded", "b.md": "active"}
    assert found(two, "apples") == set()
    assert found(two, "apples", "--any-status") == {"a.md"}
    assert two.lines("versions", "a.md")[0]["reason"] == "merged"


def test_withdraw_holds_against_a_new_ingest_and_restore_undoes_it(two: Cli) -> None:
    two("withdraw", "a.md", "--reason", "wrong")
    two.ingest("docs")
    assert statuses(two)["a.md"] == "withdrawn"
    two("restore", "a.md")
    assert statuses(two)["a.md"] == "active"
    assert found(two, "apples") == {"a.md"}
    assert [v["version"] for v in two.lines("versions", "a.md")] == [1, 2]


def test_set_changes_metadata_and_keeps_a_history(two: Cli) -> None:
    two("set", "a.md", "authority=5", "tags=fruit,red", "--reason", "asked for")
    [doc] = [d for d in two.lines("docs") if d["document"] == "a.md"]
    assert (doc["version"], doc["authority"], doc["tags"]) == (1, 5, ["fruit", "red"])
    history = two.lines("versions", "a.md")[0]["history"]
    assert {entry["field"] for entry in history} == {"authority", "tags"}
    two("set", "a.md", "valid_from=2026-01-02", "review_by=2027-03-04")
    two("set", "a.md", "valid_from=")
    [*_, first, second, third] = [
        entry for entry in two.lines("versions", "a.md")[0]["history"] if "_" in entry["field"]
    ]
    assert (first["field"], first["old"], first["new"][:10]) == ("review_by", None, "2027-03-04")
    assert (second["field"], second["old"]) == ("valid_from", None)
    assert second["new"] == third["old"] == "2026-01-02T00:00:00Z"
    assert third["new"] is None
    assert "no KEY=VALUE" in two("set", "a.md", "authority", code=2).stderr
    assert "authority" in two("set", "a.md", "authority=many", code=2).stderr


def test_erase_needs_yes_and_leaves_no_text(two: Cli) -> None:
    assert "--yes" in two("erase", "a.md", code=2).stderr
    assert "a.md is erased: 1 version, 1 chunk\n" in two("erase", "a.md", "--yes").stderr
    assert b"Apples" not in (two.folder / "chunkprep.db").read_bytes()
    report = two.ingest("docs")
    assert {d["document"]: d["outcome"] for d in report["documents"]} == {
        "a.md": "skipped",
        "b.md": "unchanged",
    }


def test_a_name_that_is_not_there_is_exit_2_and_one_line(two: Cli) -> None:
    for command in ("versions", "chunks", "restore", "impact"):
        result = two(command, "nosuch.md", code=2)
        assert result.stderr.count("\n") == 1


def test_prune_removes_what_ended(two: Cli) -> None:
    write(two, a="# A\n\nApples are green.\n")
    two.ingest("docs")
    removed = two.json("prune", "--older-than", 0)
    assert (removed["versions"], removed["chunks"]) == (1, 1)
    assert two.json("prune", "--older-than", 0)["versions"] == 0


def test_the_change_feed_mirrors_the_store(two: Cli) -> None:
    mirror: dict[str, Any] = {}

    def follow(since: int) -> int:
        for line in two("changes", "--since", since).stdout.splitlines():
            change = json.loads(line)
            since = change["cursor"]
            if change["action"] == "upsert":
                mirror[change["chunk_id"]] = change["text"]
            else:
                mirror.pop(change["chunk_id"], None)
        return since

    cursor = follow(0)
    assert len(mirror) == 2
    write(two, a="# A\n\nApples are green.\n")
    two.ingest("docs")
    assert follow(cursor) > cursor
    assert any("green" in text for text in mirror.values())
    assert not any("red" in text for text in mirror.values())
    assert len(two("changes", "--limit", 1).stdout.splitlines()) == 1


def test_sync_withdraws_what_is_gone_and_revives_what_is_back(two: Cli) -> None:
    text = (two.folder / "docs" / "a.md").read_text()
    (two.folder / "docs" / "a.md").unlink()
    assert two.ingest("docs")["withdrawn"] == 0
    assert two.ingest("docs", "--sync", "--dry-run")["withdrawn"] == 1
    assert statuses(two)["a.md"] == "active"
    assert two.ingest("docs", "--sync")["withdrawn"] == 1
    assert statuses(two)["a.md"] == "withdrawn"
    write(two, a=text)
    report = two.ingest("docs")
    assert [d["outcome"] for d in report["documents"]] == ["revived", "unchanged"]
    assert statuses(two)["a.md"] == "active"


def test_sync_leaves_other_sources_alone_and_believes_no_incomplete_listing(two: Cli) -> None:
    (two.folder / "more").mkdir()
    (two.folder / "more" / "c.md").write_text("# C\n\nCherries.\n")
    assert two.ingest("more", "--sync")["withdrawn"] == 0
    (two.folder / "docs" / "a.md").unlink()
    report = two.ingest("docs", "nowhere", "--sync", code=1)
    assert report["withdrawn"] == 0
    assert "could not be listed" in report["warnings"][0]


def test_a_sync_that_would_withdraw_most_needs_a_word(cli: Cli) -> None:
    (cli.folder / "docs").mkdir()
    write(cli, **{f"d{number:02}": f"# D\n\nText {number}.\n" for number in range(14)})
    cli.ingest("docs")
    for number in range(12):
        (cli.folder / "docs" / f"d{number:02}.md").unlink()
    report = cli.ingest("docs", "--sync", code=1)
    assert (report["withdrawn"], report["spared"]) == (0, 12)
    for word in ("12 of 14 documents", "more than 10 documents and 15%", "--allow-mass-withdraw"):
        assert word in report["warnings"][0]
    assert cli.ingest("docs", "--sync", "--allow-mass-withdraw")["withdrawn"] == 12


def test_an_empty_folder_withdraws_nothing_without_a_word(two: Cli) -> None:
    for name in ("a", "b"):
        (two.folder / "docs" / f"{name}.md").unlink()
    report = two.ingest("docs", "--sync", code=1)
    assert report["withdrawn"] == 0
    assert "no document was found" in report["warnings"][0]
    report = two.ingest("docs", "nowhere", "--sync", "--allow-mass-withdraw", code=1)
    assert report["withdrawn"] == 0
    assert two.ingest("docs", "--sync", "--allow-mass-withdraw")["withdrawn"] == 2


def test_audit_of_a_healthy_store_finds_nothing(ingested: Cli) -> None:
    ingested.ingest("samples")
    assert ingested.lines("audit", "--sources", "samples", "--recount", "all") == []


def test_audit_sees_a_changed_and_a_missing_source_and_an_index_that_lags(two: Cli) -> None:
    ids = [c["chunk_id"] for c in two.lines("chunks", "a.md")]
    (two.folder / "ids.txt").write_text("\n".join([*ids, "gone"]))
    write(two, a="# A\n\nApples are green.\n")
    (two.folder / "docs" / "b.md").unlink()
    args = ["audit", "--sources", "docs", "--index-ids", "ids.txt"]
    checks = sorted(f["check"] for f in two.lines(*args, code=1))
    assert checks == ["index_missing", "index_stale", "source_changed", "source_missing"]
    changed = ["audit", "--sources", "docs"]
    two(*changed)
    two(*changed, "--fail-on", "warning", code=1)
    two(*args, "--fail-on", "never")


def test_audit_sees_a_wrong_price_and_exits_1(two: Cli) -> None:
    database = sqlite3.connect(two.folder / "chunkprep.db")
    with database:
        database.execute(
            "UPDATE chunks SET block_tokens = block_tokens + 1 WHERE document = 'a.md'"
        )
    database.close()
    findings = two.lines("audit", "--recount", "all", code=1)
    assert [(f["check"], f["document"]) for f in findings] == [("count_drift", "a.md")]
    assert "no check" in two("audit", "--check", "nosuch", code=2).stderr


def test_resplit_makes_smaller_chunks_without_the_files(two: Cli) -> None:
    write(two, a="# A\n\n" + "Apples are red and sweet. " * 40)
    two.ingest("docs")
    (two.folder / "docs" / "a.md").unlink()
    report = two.json("resplit", "--cap", 60)
    assert report["failed"] == 0
    assert max(c["block_tokens"] for c in two.lines("chunks", "a.md")) <= 60
    assert two.lines("audit") == []


def test_resplit_takes_every_rule_and_says_what_to_give(two: Cli) -> None:
    table = "| what | price |\n|---|---|\n| tea | 2 EUR |"
    write(two, a=f"---\nvalid_from: 2026-03-01\n---\n# A\n\nAll prices:\n\n{table}\n\nUntil May.\n")
    two.ingest("docs")
    assert len(two.lines("chunks", "a.md")) == 1
    two.json("resplit", "--tables", "alone", "--header-field", "date")
    chunks = two.lines("chunks", "a.md")
    assert [c["kind"] for c in chunks] == ["prose", "table", "prose"]
    assert {c["header"] for c in chunks} == {"[Source: A (2026-03-01)]\n"} | {
        "[Source: A > A (2026-03-01)]\n"
    } & {c["header"] for c in chunks}
    assert {d["outcome"] for d in two.ingest("docs")["documents"]} == {"unchanged"}  # they stay
    refused = two("set", "a.md", "valid_from=2026-04-01", code=2)
    assert "valid_from stands in every header" in refused.stderr
    two.json("resplit", "--header-field", "none")
    assert "2026" not in two.lines("chunks", "a.md")[0]["header"]
    two("set", "a.md", "valid_from=2026-04-01")
    assert two.lines("audit") == []
    assert "say what to change" in two("resplit", code=2).stderr
    assert "target 9" in two("resplit", "--target", 9, code=2).stderr


def test_recount_prices_stored_chunks_in_a_further_encoding(two: Cli) -> None:
    ids = [c["chunk_id"] for c in two.lines("chunks", "a.md")]
    assert two.json("recount", "--encoding", "cl100k_base")["chunks"] == 2
    assert two.json("recount", "--encoding", "cl100k_base")["chunks"] == 0
    assert [c["chunk_id"] for c in two.lines("chunks", "a.md")] == ids
    candidates = "\n".join(json.dumps({"chunk_id": i, "score": 1.0}) for i in ids)
    (two.folder / "found.jsonl").write_text(candidates)
    packed = two.json(
        "pack", "--budget", 500, "--candidates", "found.jsonl", "--encoding", "cl100k_base"
    )
    assert packed["exact"] is True
    assert packed["used_tokens"] == tiktoken_counter("cl100k_base").count(packed["text"])
    assert two.lines("audit", "--recount", "all") == []
    assert "p51k" in two("recount", "--encoding", "p51k", code=2).stderr


def test_recount_with_another_template_splits_again(two: Cli) -> None:
    report = two.json("recount", "--template", "xml")
    assert report["updated"] == 2
    assert two.lines("chunks", "a.md")[0]["header"].startswith("<source title=")
    assert "give either" in two("recount", code=2).stderr


def test_the_schema_commands_tell_and_upgrade(cli: Cli) -> None:
    assert cli.json("db", "check", code=1)["ok"] is False
    assert not (cli.folder / "chunkprep.db").exists()
    made = cli.json("db", "upgrade")
    assert made["from"] is None
    assert made["to"] == cli.json("db", "check")["head"]
    assert cli.json("db", "check")["ok"] is True
    assert cli("db", "current").stdout.strip() == cli.json("db", "check")["head"]


def test_resplit_brings_nothing_back_and_keeps_the_dates(two: Cli) -> None:
    write(two, c="---\nvalid_from: 2020-01-01\n---\n# C\n\n" + "Cherries are small. " * 40)
    two.ingest("docs")
    two("withdraw", "a.md", "--reason", "wrong")
    two("set", "b.md", "status=draft")
    report = two.json("resplit", "--cap", 60)
    outcomes = {d["document"]: d["outcome"] for d in report["documents"]}
    assert outcomes == {"a.md": "skipped", "b.md": "updated", "c.md": "updated"}
    assert statuses(two) == {"a.md": "withdrawn", "b.md": "draft", "c.md": "active"}
    [doc] = [d for d in two.lines("docs") if d["document"] == "c.md"]
    assert doc["valid_from"] == "2020-01-01T00:00:00Z"
    assert len(two.lines("docs", "--as-of", "2021-01-01")) == 3  # a.md and b.md were in force
    ids = [{"chunk_id": c["chunk_id"], "score": 1} for c in two.lines("chunks", "c.md")]
    late = ("pack", "--budget", 500, "--candidates", "-", "--effective-after", "2021-01-01")
    found = two.json(*late, input=json.dumps(ids))
    assert {d["reason"] for d in found["decisions"]} == {"filtered"}
    assert two.lines("audit") == []
    assert {d["outcome"] for d in two.ingest("docs")["documents"]} == {"unchanged"}


def test_what_was_done_already_or_cannot_be_says_so_in_one_line(two: Cli) -> None:
    assert "itself" in two("supersede", "a.md", "a.md", code=2).stderr
    two("withdraw", "a.md", "--reason", "wrong")
    again = two("withdraw", "a.md", "--reason", "again").stderr
    assert "withdrawn already at 20" in again
    assert "'wrong'" in again
    assert two.json("withdraw", "a.md", "--reason", "again")["reason"] == "wrong"
    two("erase", "a.md", "--yes")
    assert "nothing is left of a.md" in two("erase", "a.md", "--yes").stderr
    assert "ingest it again" in two("restore", "a.md").stderr
    outcomes = {d["document"]: d["outcome"] for d in two.ingest("docs")["documents"]}
    assert outcomes == {"a.md": "new", "b.md": "unchanged"}


def test_a_pruned_document_says_what_to_do(two: Cli) -> None:
    two("withdraw", "a.md", "--reason", "wrong")
    two("set", "b.md", "status=draft")
    assert two.json("prune", "--older-than", 0)["versions"] == 1
    assert "pruned" in two("versions", "a.md", code=2).stderr
    assert "ingest it again" in two("restore", "a.md").stderr
    outcomes = [d["outcome"] for d in two.ingest("docs")["documents"]]
    assert outcomes == ["revived", "unchanged"]
    two("set", "b.md", "status=active")
    assert statuses(two) == {"a.md": "active", "b.md": "active"}


def test_an_edit_of_what_a_hand_keeps_out_says_so(two: Cli) -> None:
    two("withdraw", "a.md", "--reason", "wrong")
    two("set", "b.md", "status=draft")
    write(two, a="# A\n\nApples are green.\n", b="# B\n\nBananas are brown.\n")
    warned = {d["document"]: d["warnings"] for d in two.ingest("docs")["documents"]}
    assert warned == {
        "a.md": ["stays withdrawn until `chunkprep restore a.md`"],
        "b.md": ["stays a draft until `chunkprep set b.md status=active`"],
    }
    assert statuses(two) == {"a.md": "withdrawn", "b.md": "draft"}


def test_a_slip_in_front_matter_and_a_link_to_nothing_are_told(two: Cli) -> None:
    front = "---\nvalid_form: 2020-01-01\nauthor: Ann\nsupersedes: old.md\n---\n"
    write(two, a=f"{front}# A\n\nApples are green.\n")
    [doc] = [d for d in two.ingest("docs")["documents"] if d["document"] == "a.md"]
    [warning] = doc["warnings"]
    assert "'valid_form'" in warning
    assert "'valid_from'" in warning
    [finding] = two.lines("audit")
    assert (finding["check"], finding["severity"]) == ("successors", "info")
    assert "old.md" in finding["message"]


def test_a_date_that_headers_show_makes_a_new_version_when_the_source_changes_it(two: Cli) -> None:
    write(two, a="---\nvalid_from: 2026-03-01\n---\n# A\n\nApples are red.\n")
    two.json("ingest", "docs", "--direct", "--header-field", "date")
    assert two.lines("chunks", "a.md")[0]["header"] == "[Source: A (2026-03-01)]\n"
    write(two, a="---\nvalid_from: 2026-04-01\n---\n# A\n\nApples are red.\n")
    report = two.ingest("docs")
    assert {d["document"]: d["outcome"] for d in report["documents"]}["a.md"] == "updated"
    assert two.lines("chunks", "a.md")[0]["header"] == "[Source: A (2026-04-01)]\n"
    assert two.lines("audit") == []


def test_a_schema_of_a_later_program_asks_for_that_program(two: Cli) -> None:
    with closing(sqlite3.connect(two.folder / "chunkprep.db")) as store:
        store.execute("UPDATE alembic_version SET version_num = '9999'")
        store.commit()
    for command, code in (("check", 1), ("upgrade", 2)):
        said = two("db", command, code=code).stderr
        assert "schema 9999, newer than this program's" in said
        assert said.endswith("; upgrade chunkprep\n")


def test_check_does_not_send_another_programs_database_to_upgrade(cli: Cli) -> None:
    with closing(sqlite3.connect(cli.folder / "chunkprep.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
    assert "tables of another program" in cli("db", "check", code=2).stderr


def test_it_is_told_what_another_document_ends_or_leaves_open(two: Cli) -> None:
    later = "---\nvalid_from: 2999-01-01\nsupersedes: a.md\n---\n# C\n\nCherries are dark.\n"
    write(two, c=later)
    two.ingest("docs")
    in_2999 = ("docs", "--as-of", "2999-06-01")
    assert "a.md (version 1) no longer ends" in two("withdraw", "c.md", "--reason", "early").stderr
    assert {d["document"] for d in two.lines(*in_2999)} == {"a.md", "b.md"}
    assert "a.md (version 1) now ends 2999-01-01T00:00:00Z" in two("restore", "c.md").stderr
    two("withdraw", "a.md", "--reason", "in doubt")
    told = two("restore", "a.md").stderr
    assert "restored as version 2; c.md supersedes it from 2999-01-01T00:00:00Z on" in told
    two("set", "a.md", "status=draft")
    assert "c.md supersedes it from 2999" in two("set", "a.md", "status=active").stderr
    assert "take `supersedes` out of c.md" in two("restore", "a.md", code=2).stderr
    assert {d["document"] for d in two.lines(*in_2999)} == {"b.md", "c.md"}
    [moved] = two.json("erase", "c.md", "--yes")["removed"]["moved"]
    assert moved == {"document": "a.md", "version": 3, "effective_to": None}
    assert "0 errors, 0 warnings" in two("audit").stderr


def test_a_sync_tells_what_it_leaves_open(two: Cli) -> None:
    write(two, c="---\nvalid_from: 2999-01-01\nsupersedes: a.md\n---\n# C\n\nCherries.\n")
    two.ingest("docs")
    (two.folder / "docs" / "c.md").unlink()
    report = two.ingest("docs", "--sync")
    [gone] = [d for d in report["documents"] if d["outcome"] == "withdrawn"]
    assert gone["warnings"] == ["a.md (version 1) no longer ends"]
