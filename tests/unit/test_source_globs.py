from __future__ import annotations

import pytest

from chunkprep_ingest.source_globs import depth, matches, split_url


@pytest.mark.parametrize(
    ("source", "fixed", "pattern"),
    [
        ("s3://bucket/**/*.md", "s3://bucket", "**/*.md"),
        ("s3://bucket/a/b?.md", "s3://bucket/a", "b?.md"),
        ("s3://bucket/a", "s3://bucket/a", None),
        ("https://host/a?b=*", "https://host/a?b=*", None),
        ("zip://*.md::s3://bucket/a.zip", "zip://::s3://bucket/a.zip", "*.md"),
    ],
)
def test_a_url_is_split_at_its_first_part_with_a_glob(
    source: str, fixed: str, pattern: str | None
) -> None:
    assert split_url(source) == (fixed, pattern)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a.md", "*.md", True),
        ("x/a.md", "*.md", False),
        ("a.md", "**/*.md", True),
        ("x/y/a.md", "**/*.md", True),
        ("x/y/a.md", "x/**", True),
        ("x/y/a.md", "x/*/a.md", True),
        ("x/a.md", "x/*/a.md", False),
        ("x/y/z/a.md", "**/y/**/a.md", True),
        ("b1.md", "b[0-9].md", True),
    ],
)
def test_a_pattern_takes_the_paths_that_a_shell_would(
    path: str, pattern: str, expected: bool
) -> None:
    assert matches(path, pattern) is expected


def test_without_two_stars_a_pattern_has_a_depth() -> None:
    assert depth("a/*.md") == 2
    assert depth("**/*.md") is None
