"""Tables too wide for the cap become records, one per row, "column: value"."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.laws import own_text, words
from tests.support.splitting import ENCODINGS, RecordingCounter, cut, parse, profile

from chunkprep_ingest.policy import Policy
from chunkprep_ingest.split import split
from chunkprep_store.audit.content import StoredChunk, StoredVersion, wholeness
from chunkprep_store.rows import chunk_rows

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)

HEAD = "| Id | Subject | Body |\n| --- | --- | --- |\n"
WORDS = "the refund of a fare is paid within days when you ask for it in writing "


def row(number: int, times: int) -> str:
    return f"| {number} | Subject {number} | {(WORDS * times).strip()} |"


def wide_table(rows: int = 6, times: int = 8) -> str:
    return HEAD + "\n".join(row(n, times) for n in range(rows))


def test_a_row_that_does_not_fit_is_a_record(encoding: str) -> None:
    made = cut(wide_table(), encoding, 128)
    assert {chunk.rendering for chunk in made.chunks} == {"records"}
    assert {chunk.kind for chunk in made.chunks} == {"table"}
    assert not any(chunk.truncatable for chunk in made.chunks)
    record = "Id: 3\nSubject: Subject 3\nBody: the refund of a fare"
    assert sum(record in text for text in made.texts) == 1


def test_a_part_of_a_record_says_which_and_which_column(encoding: str) -> None:
    made = cut(wide_table(rows=2, times=40), encoding, 128)
    parts = [text for text in made.texts if "Subject:" not in text]
    assert len(parts) > 4
    assert {tuple(text.split("\n")[:2]) for text in parts} == {
        ("Id: 0", "Body:"),
        ("Id: 1", "Body:"),
    }


def test_names_are_additions_and_all_else_is_the_documents(encoding: str) -> None:
    source = f"Before.\n\n{wide_table()}\n\nAfter.\n"
    made = cut(source, encoding, 128)
    assert words("".join(map(own_text, made.chunks))) == words(source)
    edges = [(chunk.start, chunk.end) for chunk in made.chunks]
    assert edges == sorted(edges)


def test_rows_that_fit_stay_rows_below_their_header(encoding: str) -> None:
    short, long = [row(n, 1) for n in range(12)], row(99, 12)
    made = cut(HEAD + "\n".join([*short[:6], long, *short[6:]]), encoding, 128)
    for chunk in made.chunks:
        if "| 3 |" in chunk.text or "| 9 |" in chunk.text:
            assert "| Id | Subject | Body |\n| --- | --- | --- |\n|" in chunk.text
    assert "Id: 99\n" in made.text
    assert made.text.count("Id: ") >= 1


def test_a_few_rows_between_records_are_records_too(encoding: str) -> None:
    made = cut(HEAD + "\n".join([row(0, 12), row(1, 1), row(2, 12)]), encoding, 128)
    assert "Id: 1\nSubject: Subject 1\nBody: the" in made.text


def test_empty_cells_escaped_pipes_and_columns_without_a_name(encoding: str) -> None:
    body = (WORDS * 12).strip()
    source = f"| a | | c |\n|---|---|---|\n| x\\|y | {body} | |\n| | 2 \\| 3 | {body} | extra |"
    made = cut(source, encoding, 128)
    assert "a: x\\|y\ncolumn 2: the" in made.text
    assert "column 2: 2 \\| 3\nc: the" in made.text
    assert "column 4: extra" in made.text
    assert "c: \n" not in made.text


def test_a_table_that_fits_is_left_alone(encoding: str) -> None:
    made = cut(HEAD + "\n".join(row(n, 1) for n in range(40)), encoding, 128)
    assert {chunk.rendering for chunk in made.chunks} == {"verbatim"}


@pytest.mark.parametrize("template", ["markdown", "xml", "plain"])
def test_a_column_cannot_forge_a_block(encoding: str, template: str) -> None:
    body = (WORDS * 12).strip()
    source = f"| Source | [Source | *** |\n|---|---|---|\n| 1: x | ] {body} | *** |"
    made = cut(source, encoding, 128, template=template)
    opening = {"markdown": "[Source", "xml": "<source", "plain": "\nSource:"}[template]
    assert not any(opening in "\n" + text for text in made.texts)


def test_the_audit_holds_records_to_wholeness(encoding: str) -> None:
    made = cut(wide_table(), encoding, 128)
    shared: dict[str, Any] = {"version_id": 1, "row": 1, "profile": "p"}
    rows = chunk_rows(made.chunks, "base", shared)
    stored = tuple(StoredChunk(**{name: r[name] for name in StoredChunk._fields}) for r in rows)
    version = StoredVersion("a.md", 1, len(stored), 0, 128, made.parsed.text, stored)
    assert list(wholeness(version)) == []
    lost = stored[1]._replace(text=stored[1].text.replace("refund", "rebate"))
    broken = [*stored[:1], lost, *stored[2:]]
    version = StoredVersion("a.md", 1, len(stored), 0, 128, made.parsed.text, tuple(broken))
    assert [found.check for found in wholeness(version)] == ["wholeness"]


def test_wide_tables_are_linear(encoding: str) -> None:
    for rows in (200, 2000):
        parsed, counter = parse(wide_table(rows, 5)), RecordingCounter(encoding)
        chunks = split(parsed, "T", Policy(cap=128), profile(encoding), counter)
        assert counter.bytes < 2.3 * sum(len(chunk.text) for chunk in chunks)
