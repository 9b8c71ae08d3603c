"""The rule of freshness, on records of runs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from chunkprep_ingest.freshness import (
    RECORD,
    Look,
    ending,
    looks,
    oldest,
    remedy,
    source_of,
    tallied,
    with_older,
)

DOCS = "file:///srv/docs"
WHOLE = Look(DOCS, listed=True, documents=3)


@dataclass(frozen=True)
class Record:
    """A run as the store gives it."""

    finished_at: int
    summary: dict[str, Any] | None
    kind: str = "ingest"


def record(finished_at: int, *seen: Look, kind: str = "ingest", **summary: Any) -> Record:
    return Record(finished_at, {**summary, RECORD: [look._asdict() for look in seen]}, kind)


@pytest.mark.parametrize(
    ("uri", "document", "source"),
    [
        ("file:///srv/docs/a.md", "a.md", DOCS),
        ("file:///srv/docs/old/a%20b.md", "old/a b.md", DOCS),
        ("s3://bucket/a/b.md", "a/b.md", "s3://bucket"),
        ("http://host:1/x.md", "http://host:1/x.md", "http://host:1/x.md"),
        ("a.md", "a.md", "a.md"),
        ("http://h:1", "index.html", "http://h:1"),
        ("http://h/fees.html", "fees.html", "http://h"),
        ("http://h/fees", "fees.html", "http://h"),
        ("s3://bucket/a.md", "a.md", "s3://bucket"),
        ("memory://a.md", "a.md", "memory://a.md"),
        ("zip://a.md::/t/docs.zip", "a.md", "zip://a.md::/t/docs.zip"),
        ("zip://x/a.md::http://h/docs.zip", "a.md", "zip://x/a.md::http://h/docs.zip"),
        ("zip://::/t/docs.zip/x/a.md", "x/a.md", "zip://::/t/docs.zip"),
        ("zip://x::s3://b/docs.zip/a.md", "a.md", "zip://x::s3://b/docs.zip"),
        ("simplecache::http://h", "index.html", "simplecache::http://h"),
        ("simplecache::http://h/a.md", "a.md", "simplecache::http://h"),
    ],
)
def test_a_source_is_what_keys_are_relative_to(uri: str, document: str, source: str) -> None:
    assert source_of(uri, document) == source


@pytest.mark.parametrize(
    ("look", "whole"),
    [
        (WHOLE, True),
        (WHOLE._replace(failed=2), True),
        (WHOLE._replace(gone=7), True),
        (WHOLE._replace(failed=3), False),
        (WHOLE._replace(documents=0), False),
        (WHOLE._replace(listed=False), False),
        (WHOLE._replace(left_out=1), False),
    ],
)
def test_a_look_is_whole_that_read_something_and_looked_past_nothing(
    look: Look, whole: bool
) -> None:
    assert look.whole is whole
    known = with_older({}, [record(2, look)])
    assert (known[DOCS].whole is not None) is whole


@pytest.mark.parametrize(
    ("summary", "ended"),
    [
        (None, "unfinished"),
        ({"error": "disk full", "stopped": True}, "error"),
        ({"stopped": True, "failed": 1}, "stopped"),
        ({"failed": 1}, "failures"),
        ({"spared": 1}, "failures"),
        ({"failed": 0}, "done"),
    ],
)
def test_how_a_run_ended(summary: dict[str, Any] | None, ended: str) -> None:
    assert ending(summary) == ended
    assert looks(summary) == []


def test_the_last_look_and_the_last_whole_one_are_told_apart() -> None:
    narrow, failing = WHOLE._replace(left_out=1), WHOLE._replace(failed=1)
    runs = [
        Record(9, None),
        record(8, WHOLE, kind="retry"),
        record(7, WHOLE, stopped=True),
        record(6, narrow),
        record(5, failing, failed=1),
        record(4, WHOLE, spared=2),
        record(3, WHOLE),
        record(2, WHOLE),
    ]
    [docs] = with_older({}, runs).values()
    assert (docs.last, docs.look) == (runs[2], WHOLE)
    assert (docs.whole, docs.clean) == (runs[4], runs[6])
    halves = with_older(with_older({}, runs[:5]), runs[5:])
    assert halves == {DOCS: docs}


def test_a_collection_is_as_fresh_as_its_oldest_source() -> None:
    assert oldest([record(5), record(3), record(4)]) == record(3)
    assert oldest([record(5), None]) is None
    assert oldest([]) is None


def test_what_is_skipped_is_no_document_and_a_clash_is_a_failure() -> None:
    files = [(DOCS, "a.md"), (DOCS, "b.png"), (DOCS, "c.md"), (DOCS, "c.md"), ("s3://b", "d.md")]
    became = {"a.md": "new", "b.png": "skipped", "c.md": "failed", "d.md": "unchanged"}
    assert tallied(["file:///empty"], ["s3://b"], files, became) == [
        Look("file:///empty", listed=True),
        Look(DOCS, listed=True, documents=3, failed=2),
        Look("s3://b", listed=False, documents=1),
    ]


@pytest.mark.parametrize(
    ("look", "failing", "told"),
    [
        (WHOLE, 0, None),
        (WHOLE, 1, "what failed"),
        (WHOLE._replace(listed=False), 0, "could not be listed"),
        (WHOLE._replace(documents=0), 0, "nothing was found"),
        (WHOLE._replace(failed=3), 3, "no document could be read"),
        (WHOLE._replace(failed=3), 0, None),  # a retry mended them
        (WHOLE._replace(left_out=1), 0, "were left out"),
        (WHOLE._replace(left_out=1), 1, "what to do; else documents"),
        (WHOLE._replace(gone=1), 0, "1 of its documents is gone: `chunkprep ingest --sync`"),
        (None, 0, "ingest it again"),
        (WHOLE._replace(gone=2), 0, "2 of its documents are gone"),
    ],
)
def test_what_is_wrong_has_a_remedy(look: Look | None, failing: int, told: str | None) -> None:
    said = remedy(look, failing)
    assert said is None if told is None else told in (said or "")
