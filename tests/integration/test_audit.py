"""The audit finds each kind of damage, names it, and names nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import TEMPLATES
from chunkprep_store import CHECKS, Finding, FurtherPrice, PackedChunk, PackRecord, Sources, Store
from chunkprep_store.tables import (
    chunk_prices,
    chunks,
    elements,
    policies,
    profiles,
    versions,
)

Prepare = Callable[..., PreparedVersion]

ONE = "# Refunds\n\nRefunds take thirty days. Ask us first. We answer.\n\nBring the receipt."
TWO = "# Refunds\n\nRefunds take ten days. Ask us first. We answer.\n\nBring the receipt."
THREE = "# Refunds\n\nRefunds take five days. Ask us first. We answer.\n\nBring the receipt."
NOW = 1_000


class WordCounter:
    encoding = "words"
    fingerprint = "words/1"

    def count(self, text: str) -> int:
        return len(text.split())

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def counters(encoding: str) -> Counter:
    assert encoding == "words"
    return WordCounter()


@pytest.fixture
def filled(store: Store, prepare: Prepare) -> Store:
    """Two documents, one of them with two versions."""
    store.put_policy(Policy(cap=64))
    store.put_profile("profile-1", "words", TEMPLATES["markdown"].to_json(), 1)
    store.write_version("c", prepare("a.md", ONE), now=100)
    store.write_version("c", prepare("a.md", TWO), now=200)
    store.write_version("c", prepare("b.md", "Plain text.\n\nMore of it."), now=300)
    return store


def audit(store: Store, **options: Any) -> list[Finding]:
    options = {"recount": "all", "counters": counters, **options}
    return list(store.audit("c", now=NOW, **options))


def named(found: list[Finding]) -> set[tuple[str, str | None]]:
    return {(f.check, f.document) for f in found}


def damage(store: Store, statement: sa.Executable) -> None:
    with store.database.write() as connection:
        assert connection.execute(statement).rowcount


def chunk(document: str, version: int, ordinal: int) -> sa.ColumnElement[bool]:
    return sa.and_(
        chunks.c.document == document,
        chunks.c.version == version,
        chunks.c.ordinal == ordinal,
    )


def test_a_store_in_order_has_no_findings(filled: Store) -> None:
    assert audit(filled) == []


def test_every_finding_says_what_to_do(filled: Store) -> None:
    damage(filled, chunks.update().values(text="other"))
    found = audit(filled)
    assert found
    assert all(f.remedy and f.message for f in found)


def test_a_second_active_version(filled: Store) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("DROP INDEX uq_versions_one_active")
        connection.execute(versions.update().values(status="active"))
    assert named(audit(filled)) == {("active_versions", "a.md")}


def test_no_active_version_where_one_should_be(filled: Store) -> None:
    damage(filled, versions.update().where(versions.c.version == 2).values(status="superseded"))
    damage(filled, chunks.update().where(chunks.c.version == 2).values(status="superseded"))
    assert named(audit(filled)) == {("active_versions", "a.md")}


def test_chunks_that_say_otherwise_than_their_version(filled: Store) -> None:
    damage(filled, chunks.update().where(chunk("a.md", 1, 0)).values(status="active"))
    assert named(audit(filled)) == {("active_versions", "a.md")}
    damage(filled, chunks.update().where(chunk("a.md", 1, 0)).values(status="superseded"))
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(effective_to=5))
    assert named(audit(filled)) == {("effective_ranges", "b.md")}


@pytest.mark.parametrize("end", [None, 50_000])
def test_ranges_that_overlap(filled: Store, end: int | None) -> None:
    first = versions.c.superseded_at.is_not(None)
    damage(filled, versions.update().where(first).values(effective_to=end))
    damage(filled, chunks.update().where(chunks.c.version == 1).where(chunks.c.document == "a.md")
           .values(effective_to=end))  # fmt: skip
    assert named(audit(filled)) == {("effective_ranges", "a.md")}


def test_a_reversed_range(filled: Store) -> None:
    values = {"effective_from": 500, "effective_to": 400}
    damage(filled, versions.update().where(versions.c.chunks == 2).values(values))
    damage(filled, chunks.update().where(chunks.c.document == "b.md").values(values))
    assert ("effective_ranges", "b.md") in named(audit(filled))


@pytest.mark.parametrize("successor", ["gone", "itself", None])
def test_a_successor_that_dangles_or_is_missing(filled: Store, successor: str | None) -> None:
    row = filled.chunks("c", "a.md", 1)[2]
    target = row.chunk_id if successor == "itself" else successor
    damage(filled, chunks.update().where(chunk("a.md", 1, 2)).values(superseded_by=target))
    (found,) = audit(filled)
    assert (found.check, found.chunk_id) == ("successors", row.chunk_id)


def test_a_wrong_cached_price(filled: Store) -> None:
    row = filled.chunks("c", "b.md")[1]
    for change in (1, -1):
        wrong = chunks.c.block_tokens + change
        damage(filled, chunks.update().where(chunk("b.md", 1, 1)).values(block_tokens=wrong))
        (found,) = audit(filled)
        assert (found.check, found.chunk_id) == ("count_drift", row.chunk_id)
        (found,) = audit(filled, recount=None)
        assert (found.check, found.document) == ("count_drift", "b.md")
        damage(filled, chunks.update().where(chunk("b.md", 1, 1)).values(
            block_tokens=row.block_tokens))  # fmt: skip


@pytest.mark.parametrize("recount", ["all", 100, None])
def test_a_wrong_sum_of_a_version(filled: Store, recount: Any) -> None:
    damage(filled, versions.update().where(versions.c.chunks == 2).values(tokens=1))
    (found,) = audit(filled, recount=recount)
    assert (found.check, found.document, found.version) == ("count_drift", "b.md", 1)


def test_a_wrong_price_of_a_boundary(filled: Store) -> None:
    row = filled.chunks("c", "a.md")[1]
    assert row.boundaries.count("sentence") > 0
    wrong = row.boundaries.replace('"sentence",', '"sentence",1')
    damage(filled, chunks.update().where(chunk("a.md", 2, 1)).values(boundaries=wrong))
    assert named(audit(filled)) == {("count_drift", "a.md")}


@pytest.mark.parametrize(
    "boundaries",
    [
        '[[3,"sentence",5]]',
        '[[11,"paragraph",5]]',
        '[[900,"sentence",5]]',
        '[[0,"sentence",5]]',
        '[[11,"whim",5]]',
    ],
)
def test_a_boundary_where_none_may_be(filled: Store, boundaries: str) -> None:
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(boundaries=boundaries))
    (found,) = audit(filled, recount=None)
    assert (found.check, found.document) == ("boundaries", "b.md")


BROKEN = ("xx", "7", "[[1]]", '[["a",1,2]]', "[null]")


@pytest.mark.parametrize("text", BROKEN)
def test_a_list_of_a_chunk_that_cannot_be_read_is_named_and_the_audit_goes_on(
    filled: Store, text: str
) -> None:
    damage(filled, chunks.update().where(chunk("a.md", 2, 0)).values(boundaries=text))
    damage(filled, chunks.update().where(chunk("a.md", 2, 1)).values(additions=text))
    damage(filled, chunks.update().where(chunk("a.md", 1, 0)).values(substitutions=text))
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(text="Plain lies."))
    for recount in ("all", None):
        found = audit(filled, recount=recount)
        assert [(f.check, f.document, f.version) for f in found if f.check != "count_drift"] == [
            ("wholeness", "a.md", 1),
            ("wholeness", "a.md", 2),
            ("boundaries", "a.md", 2),
            ("wholeness", "b.md", 1),
        ]
        assert "substitutions" in found[0].message


def test_a_substitution_outside_of_the_text(filled: Store) -> None:
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(substitutions='[[900,"x"]]'))
    assert named(audit(filled)) == {("wholeness", "b.md")}


@pytest.mark.parametrize("payload", [b"xx", zlib.compress(b"xx"), zlib.compress(b"{}")])
def test_elements_that_cannot_be_read(filled: Store, payload: bytes) -> None:
    only = sa.select(versions.c.id).where(versions.c.chunks == 2).scalar_subquery()
    damage(filled, elements.update().where(elements.c.version_id == only).values(payload=payload))
    (found,) = audit(filled)
    assert (found.check, found.document) == ("wholeness", "b.md")
    assert "cannot be read" in found.message


@pytest.mark.parametrize(
    "column",
    ["metadata", "source_metadata", "overrides", "rendered", "missing", "warnings"],
)
def test_a_json_text_of_a_version_that_cannot_be_read(filled: Store, column: str) -> None:
    damage(filled, versions.update().where(versions.c.chunks == 2).values({column: "xx"}))
    (found,) = [f for f in audit(filled) if f.check == "unreadable"]
    assert (found.document, found.version) == ("b.md", 1)
    assert found.severity == "error"
    assert column in found.message


def test_a_policy_and_a_profile_that_cannot_be_read(filled: Store) -> None:
    damage(filled, policies.update().values(settings="xx"))
    damage(filled, profiles.update().values(template='{"name": 1}'))
    for recount in ("all", None):
        found = [f for f in audit(filled, recount=recount) if f.check == "unreadable"]
        assert [f.message.split(":")[0] for f in found] == [
            f"policy {Policy(cap=64).fingerprint}",
            "profile profile-1",
        ]


def test_a_value_that_stops_one_check_does_not_stop_the_others(filled: Store) -> None:
    damage(filled, versions.update().where(versions.c.version == 2).values(origin="recut:x"))
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(text="Plain lies."))
    found = audit(filled)
    assert ("wholeness", "b.md") in named(found)
    assert [(f.check, f.document) for f in found if "recut:x" in f.message] == [
        ("unreadable", "a.md")
    ]
    assert [f.check for f in found if "stopped at a value" in f.message] == ["successors"]


def test_a_profile_that_is_gone(filled: Store) -> None:
    damage(filled, profiles.delete())
    (found,) = audit(filled)
    assert (found.check, found.document) == ("count_drift", "a.md")
    assert "profile profile-1 is not in this store" in found.message


def test_a_further_price_that_cannot_be_read(filled: Store) -> None:
    price = FurtherPrice(filled.chunks("c", "b.md")[0].chunk_id, 5, 2, 1, ())
    filled.put_prices("c", "letters", "profile-1", [price])
    assert {f.check for f in audit(filled)} <= {"count_drift", "profile_drift"}
    block = filled.chunks("c", "b.md")[0].block_tokens
    damage(filled, chunk_prices.update().values(boundaries="xx", block_tokens=block))
    (found,) = [f for f in audit(filled) if f.check == "count_drift"]
    assert (found.document, found.chunk_id) == ("b.md", price.chunk_id)
    assert "boundaries 'xx' cannot be read" in found.message


def test_a_lost_chunk(filled: Store) -> None:
    damage(filled, chunks.delete().where(chunk("b.md", 1, 1)))
    assert named(audit(filled, recount=None)) == {("wholeness", "b.md")}


def test_a_changed_text(filled: Store) -> None:
    damage(filled, chunks.update().where(chunk("b.md", 1, 0)).values(text="Plain lies."))
    assert named(audit(filled)) == {("wholeness", "b.md")}


def test_a_chunk_over_the_cap(filled: Store) -> None:
    most = max(r.block_tokens for r in filled.chunks("c", "a.md"))
    assert most > max(r.block_tokens for r in filled.chunks("c", "b.md"))
    damage(filled, policies.update().values(settings=f'{{"cap": {most - 1}}}'))
    assert named(audit(filled)) == {("cap", "a.md")}


def test_a_block_over_the_cap_in_a_further_encoding_is_only_told(filled: Store) -> None:
    ids = [row.chunk_id for row in filled.chunks("c", "b.md")]
    prices = [FurtherPrice(name, cost, 1, 1, ()) for name, cost in zip(ids, (65, 5), strict=True)]
    filled.put_prices("c", "letters", "profile-1", prices)
    (found,) = audit(filled, recount=None)
    assert (found.check, found.severity, found.document) == ("cap", "info", "b.md")
    assert named(audit(filled)) == {("cap", "b.md"), ("count_drift", "b.md")}


def test_a_stale_profile_and_a_stale_policy(filled: Store) -> None:
    filled.set_primary("c", policy="other", profile=None, now=NOW)
    assert named(audit(filled)) == {("policy_drift", "a.md"), ("policy_drift", "b.md")}
    filled.set_primary("c", policy=Policy(cap=64).fingerprint, profile="new", now=NOW)
    assert named(audit(filled)) == {("profile_drift", "a.md"), ("profile_drift", "b.md")}


def test_an_edited_and_a_vanished_source(filled: Store, prepare: Prepare) -> None:
    there = {d.document: d.bytes_hash for d in filled.documents("c")}
    assert audit(filled, sources=Sources(there)) == []
    assert named(audit(filled, sources=Sources({**there, "a.md": "edited"}))) == {
        ("source_changed", "a.md")
    }
    found = audit(filled, sources=Sources({"b.md": None}))
    assert named(found) == {("source_missing", "a.md")}
    assert audit(filled, sources=Sources({}, prefix="other/")) == []


def test_an_index_with_old_ids_and_one_that_lacks_some(filled: Store) -> None:
    now = [r.chunk_id for d in ("a.md", "b.md") for r in filled.chunks("c", d)]
    assert audit(filled, index_ids=frozenset(now)) == []
    old = filled.chunks("c", "a.md", 1)[0].chunk_id
    found = audit(filled, index_ids=frozenset([*now[1:], old, "unknown"]))
    assert {(f.check, f.chunk_id) for f in found} == {
        ("index_stale", old),
        ("index_stale", "unknown"),
        ("index_missing", now[0]),
    }


def test_dates(filled: Store, prepare: Prepare) -> None:
    filled.write_version("c", prepare("old.md", ONE, valid_to=900), now=400)
    filled.write_version("c", prepare("new.md", ONE, valid_from=2_000), now=400)
    filled.write_version("c", prepare("due.md", ONE, review_by=900), now=400)
    assert {(f.check, f.document, f.severity) for f in audit(filled)} == {
        ("expired", "old.md", "warning"),
        ("not_yet_valid", "new.md", "info"),
        ("review_due", "due.md", "warning"),
    }


def test_low_coverage_and_failing(filled: Store) -> None:
    damage(filled, versions.update().where(versions.c.chunks == 2).values(coverage=0.9))
    run = filled.start_run("c", now=499, flow_run_id="of-prefect")
    filled.record_failure(
        "c", "bad.pdf", uri="file:bad.pdf", code="corrupt", message="m", remedy="mend it", now=500,
        run_id=run,
    )  # fmt: skip
    found = audit(filled)
    assert named(found) == {("low_coverage", "b.md"), ("failing", "bad.pdf")}
    assert "mend it" in {f.remedy for f in found}
    assert [f.message for f in found if f.check == "failing"] == [
        "1 attempts failed: corrupt: m (Prefect's flow run of-prefect)"
    ]


def pack(request_id: str, at: int, as_of: int, chunk_id: str) -> PackRecord:
    used = (PackedChunk(chunk_id, 0),)
    return PackRecord(request_id, at, as_of, "words", 100, 50, "{}", "{}", (), used)


def test_packs_that_were_served_stale(filled: Store, prepare: Prepare) -> None:
    second = 1_000_000
    filled.write_version("c", prepare("s.md", ONE), now=second)
    old = filled.chunks("c", "s.md")[0].chunk_id
    filled.write_version("c", prepare("s.md", TWO), now=100 * second)
    for name, at, as_of in (
        ("good", 50 * second, 50 * second),
        ("concurrent", 103 * second, 103 * second),
        ("back then", 200 * second, 50 * second),
        ("stale", 200 * second, 200 * second),
    ):
        filled.write_packs("c", [pack(name, at, as_of, old)])
    found = [f for f in audit(filled) if f.check == "served_stale"]
    assert [(f.severity, f.document, f.version) for f in found] == [
        ("error", "s.md", 1),
        ("info", "s.md", 1),
    ]
    assert "pack stale used it" in found[0].message
    assert "1 pack used" in found[1].message


def test_an_expired_chunk_that_was_served(filled: Store, prepare: Prepare) -> None:
    second = 1_000_000
    filled.write_version("c", prepare("s.md", ONE, valid_to=50 * second), now=second)
    filled.write_packs("c", [
        pack("late", 60 * second, 60 * second, filled.chunks("c", "s.md")[0].chunk_id)
    ])  # fmt: skip
    assert [f.severity for f in audit(filled) if f.check == "served_stale"] == ["error"]


SECOND = 1_000_000


def served(store: Store) -> list[tuple[str, str | None, str]]:
    found = store.audit("c", now=NOW, checks=["served_stale"])
    return [(f.severity, f.document, f.message.partition(",")[0]) for f in found]


@pytest.fixture
def packed(filled: Store, prepare: Prepare) -> Store:
    """26.md, which 27.md supersedes from second 900, in a pack of second 100."""
    filled.write_version("c", prepare("26.md", ONE), now=SECOND)
    new = prepare("27.md", TWO, valid_from=900 * SECOND, supersedes="26.md")
    filled.write_version("c", new, now=2 * SECOND)
    used = filled.chunks("c", "26.md")[0].chunk_id
    filled.write_packs("c", [pack("right", 100 * SECOND, 100 * SECOND, used)])
    return filled


def test_a_correction_after_the_pack_makes_it_no_error(packed: Store) -> None:
    assert served(packed) == []
    fields = {"valid_from": 500 * SECOND}
    packed.set_metadata("c", "26.md", fields, now=200 * SECOND)
    assert served(packed) == [("info", "26.md", "replaced since 1 pack used it")]
    used = packed.chunks("c", "26.md")[0].chunk_id
    packed.write_packs("c", [pack("wrong", 300 * SECOND, 300 * SECOND, used)])
    assert [f[0] for f in served(packed)] == ["error", "info"]


@pytest.mark.parametrize("moved", [20 * SECOND, 800 * SECOND])
def test_a_successors_date_that_moves_after_the_pack_is_a_note_at_most(
    packed: Store, moved: int
) -> None:
    packed.set_metadata("c", "27.md", {"valid_from": moved}, now=200 * SECOND)
    assert served(packed) == (
        [("info", "26.md", "replaced since 1 pack used it")] if moved < 100 * SECOND else []
    )


@pytest.fixture
def ahead(filled: Store, prepare: Prepare) -> Store:
    """s.md, whose next version holds from second 900 on; a pack of second 100 asked for 800."""
    filled.write_version("c", prepare("s.md", ONE), now=SECOND)
    filled.write_version("c", prepare("s.md", TWO, valid_from=900 * SECOND), now=2 * SECOND)
    use(filled, "right", 100, 800)
    assert served(filled) == []
    return filled


def use(store: Store, name: str, at: int, as_of: int, document: str = "s.md") -> None:
    used = store.chunks("c", document, 1)[0].chunk_id
    store.write_packs("c", [pack(name, at * SECOND, as_of * SECOND, used)])


def test_a_version_that_arrives_after_the_pack_makes_it_no_error(
    ahead: Store, prepare: Prepare
) -> None:
    ahead.write_version("c", prepare("s.md", THREE, valid_from=700 * SECOND), now=200 * SECOND)
    assert served(ahead) == [("info", "s.md", "replaced since 1 pack used it")]
    use(ahead, "wrong", 300, 800)
    assert served(ahead)[0] == (
        "error", "s.md", "pack wrong used it"
    )  # fmt: skip


def test_an_older_edition_that_arrives_late_takes_no_error_away(
    ahead: Store, prepare: Prepare
) -> None:
    use(ahead, "wrong", 100, 950)
    assert [f[0] for f in served(ahead)] == ["error"]
    ahead.write_version("c", prepare("s.md", THREE, valid_from=700 * SECOND), now=200 * SECOND)
    assert served(ahead)[0] == ("error", "s.md", "pack wrong used it")


def test_a_version_of_the_old_that_arrives_after_the_pack_makes_it_no_error(
    packed: Store, prepare: Prepare
) -> None:
    use(packed, "ahead", 100, 800, "26.md")
    own = prepare("26.md", THREE, valid_from=700 * SECOND)
    packed.write_version("c", own, now=200 * SECOND)
    assert served(packed) == [("info", "26.md", "replaced since 1 pack used it")]
    use(packed, "wrong", 300, 800, "26.md")
    assert [f[0] for f in served(packed)] == ["error", "info"]


def test_a_successor_that_moves_and_is_erased_after_its_day_makes_no_error(packed: Store) -> None:
    use(packed, "ahead", 100, 800, "26.md")
    packed.set_metadata("c", "27.md", {"valid_from": 700 * SECOND}, now=200 * SECOND)
    packed.erase("c", "27.md", now=900 * SECOND)
    assert served(packed) == [("info", "26.md", "replaced since 1 pack used it")]
    use(packed, "wrong", 1_000, 1_000, "26.md")
    assert [f[0] for f in served(packed)] == ["error", "info"]


def test_what_was_withdrawn_since_is_told_so(filled: Store, prepare: Prepare) -> None:
    filled.write_version("c", prepare("s.md", ONE), now=SECOND)
    use(filled, "right", 100, 100)
    filled.withdraw("c", "s.md", now=200 * SECOND)
    assert served(filled) == [("info", "s.md", "withdrawn since 1 pack used it")]
    use(filled, "wrong", 300, 300)
    assert [f[0] for f in served(filled)] == ["error", "info"]


@pytest.mark.parametrize("field", ["valid_from", "valid_to"])
def test_the_dates_of_an_active_document_that_change_are_a_note(
    filled: Store, prepare: Prepare, field: str
) -> None:
    filled.write_version("c", prepare("s.md", ONE), now=SECOND)
    used = filled.chunks("c", "s.md")[0].chunk_id
    filled.write_packs("c", [pack("right", 100 * SECOND, 100 * SECOND, used)])
    other = {"valid_from": 500 * SECOND, "valid_to": 50 * SECOND}[field]
    filled.set_metadata("c", "s.md", {field: other}, now=200 * SECOND)
    assert served(filled) == [("info", "s.md", "its dates were changed since 1 pack used it")]
    filled.write_packs("c", [pack("wrong", 300 * SECOND, 300 * SECOND, used)])
    assert [f[0] for f in served(filled)] == ["error", "info"]


def test_a_draft_again_and_a_pack_for_a_day_to_come_are_noted(
    filled: Store, prepare: Prepare
) -> None:
    filled.write_version("c", prepare("s.md", ONE), now=SECOND)
    used = filled.chunks("c", "s.md")[0].chunk_id
    for name, as_of in (("now", 100 * SECOND), ("to come", 900 * SECOND)):
        filled.write_packs("c", [pack(name, 100 * SECOND, as_of, used)])
    filled.set_metadata("c", "s.md", {"status": "draft"}, now=200 * SECOND)
    assert served(filled) == [("info", "s.md", "it became a draft again since 2 packs used it")]
    filled.write_packs("c", [pack("wrong", 300 * SECOND, 300 * SECOND, used)])
    filled.set_metadata("c", "s.md", {"status": "active"}, now=400 * SECOND)
    assert [f[0] for f in served(filled)] == ["error"]
    filled.write_version("c", prepare("s.md", TWO), now=500 * SECOND)
    assert served(filled)[0][0] == "error"
    assert served(filled)[1] == ("info", "s.md", "replaced since 2 packs used it")


def test_a_checks_name_must_exist(filled: Store) -> None:
    with pytest.raises(RequestError, match="wholenes"):
        audit(filled, checks=["wholenes"])
    assert audit(filled, checks=list(CHECKS)) == []
    damage(filled, chunks.delete().where(chunk("b.md", 1, 1)))
    assert audit(filled, checks=["cap", "expired"]) == []


def test_collections_do_not_see_each_other(filled: Store, prepare: Prepare) -> None:
    filled.write_version("d", prepare("z.md", ONE), now=100)
    damage(filled, chunks.update().where(chunks.c.document == "z.md").values(text="lies"))
    assert audit(filled) == []
    assert {f.document for f in filled.audit("d", now=NOW)} == {"z.md"}
