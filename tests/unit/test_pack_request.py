"""A request is checked when it is made: one line, naming the field."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import moment
from chunkprep_packer import Candidate, PackOptions, PackRequest, PackResult, PinText, pack


def test_its_json_is_read_back_as_it_was() -> None:
    values: dict[str, Any] = {
        "budget": 100,
        "candidates": [
            Candidate("a", 0.5, [1, 2.5]),
            {"chunk_id": "b", "score": 1, "vector": [0, 1]},
        ],
        "query_vector": [1, 0],
        "as_of": "2026-03-01T09:00:00.000001+01:00",
        "pin": "policies/refund.md",
        "pin_text": ["uploaded", {"text": "row", "name": "table"}],
        "tag": ["hr"],
        "mmr": 0.7,
    }
    request = PackRequest(**values)
    assert request.as_of == moment("2026-03-01T08:00:00.000001")
    assert request.pin == ("policies/refund.md",)
    assert request.pin_text == (PinText("uploaded"), PinText("row", "table"))
    assert PackRequest.from_json(request.model_dump_json()) == request


def test_what_search_prints_beside_id_and_score_does_not_matter() -> None:
    line = {"chunk_id": "a", "score": 0.5, "document": "x.md", "ordinal": 3}
    request = PackRequest.from_json(json.dumps({"budget": 1, "candidates": [line]}))
    assert request.candidates == (Candidate("a", 0.5),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"budget": 0}, "budget: must be at least 1, not 0"),
        ({"budget": None}, "budget: input should be a valid integer, not None"),
        ({"budget": 2**31}, "budget: must be at most 2147483647, not 2147483648"),
        ({"as_of": 10**30}, "as_of: 1000000000000000000000000000000 microseconds are not within"),
        ({"stratgy": "ranked"}, "stratgy: unknown option; did you mean strategy?"),
        ({"zzz": 1}, "zzz: unknown option"),
        ({"self": 1}, "self: unknown option"),
        ({"strategy": "best"}, "strategy: must be one of 'ranked', 'stop_at_first_miss' or"),
        ({"order": "random"}, "order: must be one of 'rank', 'best_last', 'edges', 'document'"),
        ({"cut_at": "word"}, "cut_at: must be one of 'heading', 'paragraph', 'list_item'"),
        ({"as_of": "yesterday"}, "as_of: 'yesterday' is no time"),
        ({"min_score": float("nan")}, "min_score: must be a finite number, not nan"),
        ({"mmr_max_similarity": 2}, "mmr_max_similarity: must be at most 1.0, not 2"),
        ({"candidates": None}, "candidates: input should be an instance of Sequence, not None"),
        ({"candidates": [{"chunk_id": "a"}]}, "candidates[0].score: is missing"),
        ({"candidates": [{"chunk_id": "a", "score": None}]}, "candidates[0].score: input should"),
        ({"candidates": [Candidate("", 0.5)]}, "candidates[0].chunk_id: must be a printable text"),
        ({"candidates": [Candidate("a\x00", 0.5)]}, "candidates[0].chunk_id: must be a printable"),
        ({"pin": ["\ud800"]}, "pin[0]: lone surrogates name nothing that can be stored"),
        ({"collection": ""}, "collection: string should have at least 1 character, not ''"),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_field(values: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        PackRequest(**{"budget": 100, "candidates": [], **values})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert caught.value.field is not None


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"budget": 5, "candidates": 3}'])
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        PackRequest.from_json(text)
    assert "\n" not in str(caught.value)


def test_nan_in_json_is_refused() -> None:
    with pytest.raises(RequestError, match=r"candidates\[0\]\.score: must be a finite number"):
        PackRequest.from_json('{"budget": 5, "candidates": [{"chunk_id": "a", "score": NaN}]}')


def test_request_and_result_describe_themselves_for_openapi() -> None:
    schema = PackRequest.model_json_schema()
    assert schema["required"] == ["budget", "candidates"]
    kinds = [one["type"] for one in schema["properties"]["as_of"]["anyOf"]]
    assert kinds == ["string", "integer", "null"]
    assert set(PackResult.model_json_schema()["properties"]) == set(PackResult.model_fields)


def test_a_result_is_read_back_as_it_was() -> None:
    result = pack([("a", 0.5, 10), ("b", 0.4, 20)], 15)
    assert PackResult.model_validate_json(result.model_dump_json()) == result


def test_fields_are_given_by_name() -> None:
    with pytest.raises(TypeError, match=r"by name, as in PackRequest\(budget=1600"):
        PackRequest(300, [])  # type: ignore


@pytest.mark.parametrize("moment", [1_796_050_456, 1_796_050_456_000, -1])
@pytest.mark.parametrize("field", ["as_of", "effective_after"])
def test_a_time_in_seconds_or_milliseconds_is_refused(field: str, moment: int) -> None:
    values: dict[str, Any] = {"budget": 1, field: moment}
    with pytest.raises(RequestError, match=f"^{field}: .* is 19[67].* counts microseconds"):
        PackOptions(**values)


@pytest.mark.parametrize("flag", ["log", "ordinals", "partial_note", "log_pinned_text"])
def test_a_flag_is_true_or_false_and_no_word(flag: str) -> None:
    values: dict[str, Any] = {flag: "no"}
    with pytest.raises(RequestError, match=f"^{flag}: "):
        PackOptions(budget=1, **values)


@pytest.mark.parametrize("field", ["access", "source", "tag", "pin"])
def test_a_lone_surrogate_names_nothing(field: str) -> None:
    values: dict[str, Any] = {"budget": 1, field: ["a\ud800"]}
    with pytest.raises(RequestError, match=rf"^{field}\[0\]: lone surrogates"):
        PackOptions(**values)


@pytest.mark.parametrize("pin", [PinText(cast(Any, None)), PinText("x", cast(Any, 5))])
def test_a_pinned_text_is_a_text(pin: PinText) -> None:
    with pytest.raises(RequestError, match=r"^pin_text\[0\]: text and name must be texts"):
        PackRequest(budget=1, candidates=[], pin_text=[pin])


def test_times_of_early_1970_are_taken_as_texts_and_kept() -> None:
    request = PackRequest(budget=1, candidates=[], as_of="1970-01-05")
    assert PackRequest(**request.fields_of(PackRequest.model_fields)) == request
