"""The one lookup, the chain of successors, and search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.model import Boundary, ChunkRow, PreparedVersion
from chunkprep_ingest.template import TEMPLATES
from chunkprep_store import FurtherPrice, Store
from chunkprep_store.tables import chunks, profiles

Prepare = Callable[..., PreparedVersion]

REFUND = "# Refunds\n\nRefunds take ten days.\n\nBring the receipt."
SHIP = "# Shipping\n\nParcels travel for two days.\n\nAbroad it takes a week."


@pytest.fixture
def filled(store: Store, prepare: Prepare) -> Store:
    store.write_version("c", prepare("refund.md", REFUND, tags="a, b", source="web"), now=100)
    store.write_version("c", prepare("ship.md", SHIP, valid_to=500), now=100)
    store.write_version("other", prepare("ship.md", SHIP), now=100)
    return store


def all_ids(store: Store, collection: str = "c") -> list[str]:
    return [
        row.chunk_id
        for info in store.documents(collection)
        for row in store.chunks(collection, info.document)
    ]


def test_rows_come_as_chunk_rows_whatever_their_standing(filled: Store) -> None:
    ids = all_ids(filled)
    found = filled.lookup("c", [*ids, "unknown"], at=900)
    assert sorted(r.chunk_id for r in found.rows) == sorted(ids)
    row = next(r for r in found.rows if r.document == "refund.md" and r.ordinal == 1)
    assert isinstance(row, ChunkRow)
    assert row == filled.chunks("c", "refund.md")[1]
    assert (row.tags, row.source, row.heading_path) == ('["a","b"]', "web", '["Refunds"]')
    assert isinstance(row.signature, bytes)


def test_ids_of_another_collection_are_unknown(filled: Store) -> None:
    assert filled.lookup("c", all_ids(filled, "other"), at=1).rows == []
    with pytest.raises(NotFoundError, match="nowhere"):
        filled.lookup("nowhere", ["x"], at=1)


def test_pinned_documents_come_in_order_and_in_force(filled: Store) -> None:
    ids = all_ids(filled)
    found = filled.lookup("c", ids[:2], documents=["ship.md", "gone.md"], at=200)
    assert sorted(r.chunk_id for r in found.rows) == sorted(ids[:2])
    assert found.pinned == {"ship.md": filled.chunks("c", "ship.md")}
    assert filled.lookup("c", [], documents=["ship.md"], at=500).pinned == {}


def test_five_thousand_ids_are_one_statement(filled: Store) -> None:
    ids = all_ids(filled)
    found = filled.lookup("c", [*ids, *(f"id-{n}" for n in range(5_000))], at=1)
    assert len(found.rows) == len(ids)


def test_prices_of_a_further_encoding(filled: Store) -> None:
    ids = all_ids(filled)
    filled.put_profile("profile-1", "words", TEMPLATES["markdown"].to_json(), 1)
    own = filled.lookup("c", ids, encoding="words", at=1)
    assert sorted(own.rows) == sorted(filled.lookup("c", ids, at=1).rows)
    ids = [row.chunk_id for row in filled.unpriced("c", "letters")]
    price = FurtherPrice(ids[0], 98, 9, 3, (Boundary(4, "sentence", 20),))
    assert filled.put_prices("c", "letters", "p2", [price]) == 1
    assert filled.put_prices("c", "letters", "p2", [price._replace(block_tokens=99)]) == 1
    assert [row.chunk_id for row in filled.unpriced("c", "letters")] == ids[1:]
    assert list(filled.unpriced("c", "words")) == []
    priced = filled.lookup("c", ids, encoding="letters", documents=["refund.md"], at=1)
    assert [(r.block_tokens, r.profile) for r in priced.rows] == [(99, "p2")]
    assert len(priced.unpriced) == len(ids) - 1
    assert priced.rows[0].header.startswith("[Source")


def test_successors_follow_the_chain_to_what_is_in_force(store: Store, prepare: Prepare) -> None:
    for now, days in ((100, "ten"), (200, "nine"), (300, "eight")):
        text = f"# Refunds\n\nRefunds take {days} days."
        store.write_version("c", prepare("a.md", text), now=now)
    one, two, three = ([r.chunk_id for r in store.chunks("c", "a.md", v)] for v in (1, 2, 3))
    found = store.successors("c", [*one, *three, "unknown"], 400)
    assert {old: row.chunk_id for old, row in found.items()} == dict(zip(one, three, strict=True))
    then = store.successors("c", one, 250)
    assert {old: row.chunk_id for old, row in then.items()} == dict(zip(one, two, strict=True))
    with store.snapshot("c") as view:
        assert view.successors(one, 400).keys() == set(one)
        assert len(view.lookup(one, at=400).rows) == len(one)


def test_a_loop_of_successors_made_by_hand_ends(store: Store, prepare: Prepare) -> None:
    store.write_version("c", prepare("a.md", REFUND, valid_to=200), now=100)
    with store.database.write() as connection:
        connection.execute(chunks.update().values(superseded_by=chunks.c.chunk_id))
    assert store.successors("c", all_ids(store), 900) == {}


def test_search_answers_plain_questions(filled: Store) -> None:
    hits = filled.search("c", "How many days does a refund take?", top=3, at=200)
    assert hits[0].document == "refund.md"
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert filled.search("c", "parcels", top=5, at=200)[0].document == "ship.md"


def test_search_keeps_to_what_is_in_force_and_to_its_collection(filled: Store) -> None:
    assert filled.search("c", "parcels", top=5, at=500) == []
    assert len(filled.search("c", "parcels", top=5, at=500, any_status=True)) == 1
    assert len(filled.search("other", "parcels", top=5, at=500)) == 1


@pytest.mark.parametrize(
    "query", ["", "?!", "\"' OR NEAR( *", "a & b | !c:*", "the of", "x" * 5000]
)
def test_search_takes_any_text(filled: Store, query: str) -> None:
    assert isinstance(filled.search("c", query, top=5, at=200), list)


def test_a_deleted_row_leaves_the_search(filled: Store) -> None:
    with filled.database.write() as connection:
        connection.execute(chunks.delete().where(chunks.c.document == "ship.md"))
    assert filled.search("c", "parcels", top=5, at=200) == []


def test_profiles_are_kept_with_their_template(filled: Store) -> None:
    template = TEMPLATES["xml"]
    for _ in range(2):
        filled.put_profile("profile-1", "words", template.to_json(), 1)
    assert filled.profile("c").template == template
    assert filled.template("profile-1").encoding == "words"
    with pytest.raises(NotFoundError, match="nope"):
        filled.template("nope")
    assert len(filled.database.rows(f"SELECT * FROM {profiles.name}", ())) == 1
