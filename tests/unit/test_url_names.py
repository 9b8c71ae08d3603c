from __future__ import annotations

import pytest

from chunkprep_ingest.readers import is_supported
from chunkprep_ingest.url_names import _SUFFIXES, file_name


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        ("http://host/a/refund.md", "text/plain", "refund.md"),
        ("http://host/page", "text/html", "page.html"),
        ("http://host/page", None, "page"),
        ("http://host/page", "application/octet-stream", "page"),
        ("http://host/page.php", "Text/HTML ", "page.php.html"),
        ("http://host/v1.2", "application/pdf", "v1.2.pdf"),
        ("http://127.0.0.1:4722", "text/html", "index.html"),
        ("http://127.0.0.1:4722", None, "index.html"),
        ("https://host", "text/plain", "index.txt"),
        ("s3://bucket/policies/a[1].md", None, "a[1].md"),
        ("memory://a.md", None, "a.md"),
        ("zip://rules/b.md::/tmp/docs.zip", None, "b.md"),
        ("zip://b.md::s3://bucket/docs.zip", None, "b.md"),
        ("simplecache::s3://bucket/c.md", None, "c.md"),
    ],
)
def test_the_name_of_what_a_url_names(url: str, media_type: str | None, name: str) -> None:
    assert file_name(url, media_type) == name


def test_every_suffix_of_a_type_is_read() -> None:
    assert all(is_supported(f"a{suffix}") for suffix in _SUFFIXES.values())
