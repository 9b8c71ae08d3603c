"""What an ingest run decides, from values alone."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chunkprep_flows.attempts import attempt_key, tried_bytes
from chunkprep_flows.plan import (
    GUARD_DOCUMENTS,
    GUARD_SHARE,
    MAX_ATTEMPTS,
    Seen,
    Work,
    batch_size,
    batches,
    next_step,
    withdrawals,
)
from chunkprep_flows.reading import Reading
from chunkprep_ingest.listing import Listing
from chunkprep_ingest.model import Fingerprints
from chunkprep_ingest.readers import ReadOptions
from chunkprep_ingest.reading_process import ReadLimits
from chunkprep_store import KnownDocument

PRINTS = Fingerprints("reader", "policy", "profile")
WORK = Work("a.md", "file:///docs/a.md", "/docs/a.md", "/docs", 10)
SEEN = Seen(WORK, "hash", PRINTS, "{}", "key")
KNOWN = KnownDocument(
    "a.md", version=1, bytes_hash="hash", metadata_json="{}", fingerprints=PRINTS,
    status="active", uri=WORK.uri,
)  # fmt: skip


def known(**changes: object) -> KnownDocument:
    values = {name: getattr(KNOWN, name) for name in KnownDocument.__slots__}
    return KnownDocument(**{**values, **changes})


def step(there: KnownDocument | None, seen: Seen = SEEN, *, retry: bool = False) -> str:
    return next_step(seen, there, retry=retry)


@given(st.integers(0, 20_000), st.integers(1, 32), st.integers(1, 500))
def test_each_worker_gets_several_batches_and_none_is_too_large(
    documents: int, workers: int, most: int
) -> None:
    size = batch_size(documents, workers=workers, most=most)
    assert 1 <= size <= most
    number = -(-documents // size)
    assert number >= min(documents, 3 * workers) or documents < 16 * workers
    assert size == most or number <= 4 * workers


def test_the_same_bytes_metadata_and_fingerprints_stand() -> None:
    assert step(KNOWN) == "unchanged"


def test_anything_else_is_read() -> None:
    assert step(None) == "ingest"
    assert step(known(bytes_hash="other")) == "ingest"
    assert step(known(metadata_json='{"authority": 1}')) == "ingest"
    assert step(known(fingerprints=Fingerprints("reader", "policy", "other"))) == "ingest"
    assert step(known(uri="file:///elsewhere/a.md")) == "ingest"
    assert step(known(whole=False)) == "ingest"
    assert step(KNOWN, Seen(WORK, "hash", PRINTS, None)) == "ingest"


def test_what_sync_withdrew_is_read_again_and_what_a_hand_withdrew_is_not() -> None:
    assert step(known(status="withdrawn", closed_by="sync")) == "ingest"
    assert step(known(status="withdrawn", closed_by="hand")) == "unchanged"


def test_an_erased_document_stays_out() -> None:
    assert step(known(erased=True)) == "erased"


@given(attempts=st.integers(1, 10), retry=st.booleans(), same=st.booleans())
def test_a_failing_attempt_is_made_a_few_times(attempts: int, retry: bool, same: bool) -> None:
    failing = known(failed_attempt="key" if same else "other", attempts=attempts)
    given_up = same and attempts >= MAX_ATTEMPTS and not retry
    assert step(failing, retry=retry) == ("given_up" if given_up else "ingest")


def test_what_could_not_be_opened_is_read_as_soon_as_it_can() -> None:
    assert step(known(failed_attempt=None, attempts=1)) == "ingest"
    assert step(known(failed_attempt=None, attempts=9)) == "ingest"


def test_an_attempt_is_the_same_only_while_all_that_it_depends_on_is() -> None:
    first = attempt_key("hash", PRINTS, "beside", Reading())
    others = [
        attempt_key("other", PRINTS, "beside", Reading()),
        attempt_key("hash", Fingerprints("reader", "other", "profile"), "beside", Reading()),
        attempt_key("hash", PRINTS, "other", Reading()),
        attempt_key("hash", PRINTS, "beside", Reading(ReadOptions(fallback_encoding="cp1252"))),
        attempt_key("hash", PRINTS, "beside", Reading(ReadOptions(max_bytes=1))),
        attempt_key("hash", PRINTS, "beside", Reading(limits=ReadLimits(seconds=1))),
    ]
    assert first == attempt_key("hash", PRINTS, "beside", Reading())
    assert first not in others
    assert tried_bytes(first) == "hash"


def test_another_fallback_reads_again_only_what_depended_on_it() -> None:
    fell_back = known(fingerprints=Fingerprints("reader+fallback-cp1252", "policy", "profile"))
    for name, again in (("cp1252", False), ("windows-1252", False), ("latin-1", True)):
        seen = Seen(WORK, "hash", PRINTS, "{}", fallback_encoding=name)
        assert step(KNOWN, seen) == "unchanged"
        assert step(fell_back, seen) == ("ingest" if again else "unchanged")
    assert step(fell_back) == "unchanged"


@given(
    sizes=st.lists(st.integers(0, 100), max_size=40),
    documents=st.integers(1, 10),
    size=st.integers(1, 200),
)
def test_batches_keep_order_and_limits(sizes: list[int], documents: int, size: int) -> None:
    work = [Work(f"d{n}", "", "", "", each) for n, each in enumerate(sizes)]
    cut = list(batches(work, documents=documents, size=size))
    assert [item for batch in cut for item in batch] == work
    assert all(0 < len(batch) <= documents for batch in cut)
    assert all(len(b) == 1 or sum(w.size for w in b) <= size for b in cut)


@given(stored=st.integers(0, 120), gone=st.integers(0, 120))
def test_many_withdrawals_at_once_need_a_word(stored: int, gone: int) -> None:
    gone = min(gone, stored)
    uris = {f"d{n}": f"file:///docs/d{n}" for n in range(stored)}
    listed = {f"d{n}" for n in range(gone, stored)} | {"new"}
    found = withdrawals(uris, listed, ["file:///docs/"], allow_mass=False)
    mass = gone > GUARD_DOCUMENTS and gone > GUARD_SHARE * stored
    assert (found.refused is not None) == mass
    assert len(found.documents) == (0 if mass else gone)
    assert found.spared == (gone if mass else 0)
    elsewhere = {f"e{n}": f"file:///more/e{n}" for n in range(1000)}
    both = {**uris, **elsewhere}
    assert withdrawals(both, listed, ["file:///docs/"], allow_mass=False) == found
    allowed = withdrawals(uris, listed, ["file:///docs/"], allow_mass=True)
    assert len(allowed.documents) == gone


def test_a_folder_whose_name_begins_alike_is_another_folder() -> None:
    stored = {"a": "file:///docs2/a"}
    prefixes = Listing((), (), (Path("/docs"),)).prefixes
    found = withdrawals(stored, {"b"}, prefixes, allow_mass=True)
    assert found.documents == ()


def test_a_folder_in_which_nothing_was_found_needs_a_word_for_its_documents() -> None:
    stored = {"a": "file:///a/a", "b": "file:///b/b"}
    prefixes, empty = ("file:///a/", "file:///b/", "file:///c/"), ("file:///b/", "file:///c/")
    found = withdrawals(stored, {"a"}, prefixes, empty=empty, allow_mass=False)
    assert (found.documents, found.spared) == ((), 1)
    assert "no document was found in file:///b/" in (found.refused or "")
    found = withdrawals(stored, {"b"}, prefixes, empty=empty, allow_mass=False)
    assert found.documents == ("a",)
    found = withdrawals(stored, {"a"}, prefixes, empty=empty, allow_mass=True)
    assert found.documents == ("b",)
