from __future__ import annotations

from chunkprep_ingest.coverage import covered, measure
from chunkprep_ingest.model import ParsedDocument


def test_words_count_as_often_as_they_occur() -> None:
    assert measure("a b b c", "b c a") == (0.75, ("b",))
    assert measure("a b b c", "c b a b x") == (1.0, ())


def test_order_punctuation_and_joined_words_do_not_matter() -> None:
    assert measure("exam ple, one", "one. (example)") == (1.0, ())


def test_a_file_without_words_is_covered() -> None:
    assert measure(" -- ", "x") == (1.0, ())


def test_low_coverage_warns_and_names_what_is_missing() -> None:
    document = covered(ParsedDocument("found", (), "r"), "found lost gone")
    assert document.coverage < 0.34
    assert document.missing == ("lost", "gone")
    assert document.warnings == ("low_coverage: 0.333 of the words were read; missing: lost, gone",)


def test_what_a_setting_left_out_counts_as_found() -> None:
    assert covered(ParsedDocument("found", (), "r"), "found menu", "menu").coverage == 1.0
