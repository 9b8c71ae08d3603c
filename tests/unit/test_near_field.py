"""A front-matter key that is almost one of ours."""

from __future__ import annotations

import pytest

from chunkprep_ingest.metadata import near_field


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("valid_form", "valid_from"),
        ("Valid-From", "valid_from"),
        ("supercedes", "supersedes"),
        ("tag", "tags"),
        ("titel", "title"),
        ("author", None),
        ("authority", None),
        ("date", None),
        ("draft", None),
        ("layout", None),
        ("sources", "source"),
        ("", None),
    ],
)
def test_a_misspelt_key_is_near_one_field(key: str, field: str | None) -> None:
    assert near_field(key) == field
