"""Secrets of a URL: where they may stand, what they are read from, and that nobody sees them."""

from __future__ import annotations

import pytest

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.url_secrets import (
    as_recorded,
    expanded,
    hidden,
    holds_secret,
    without_secrets,
)

ENVIRONMENT = {"PW": "p@ss/w:rd", "SIG": "a%2Fb"}


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("https://user:pw@host/a.md?sig=1", "https://host/a.md"),
        ("https://token@host/a.md", "https://host/a.md"),
        ("https://user:${PW}@host/a.md", "https://host/a.md"),
        ("http://host:8080/a@b.md", "http://host:8080/a@b.md"),
        ("s3://AKIA:sec/ret@bucket/docs/", "s3://bucket/docs"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("abfs://container@account.dfs/x", "abfs://container@account.dfs/x"),
        ("zip://*.md::https://u:p@host/a.zip", "zip://*.md::https://host/a.zip"),
        ("memory://", "memory://"),
        ("https://host/a.html#part", "https://host/a.html"),
        ("https://host/a.html#part?q=1", "https://host/a.html"),
        ("https://host/a.html?q=1#part", "https://host/a.html"),
        ("https://user:p#w@host/a.html#part", "https://host/a.html"),
        ("s3://bucket/a#b.md", "s3://bucket/a#b.md"),
        ("zip://a#b.md::https://host/a.zip#c", "zip://a#b.md::https://host/a.zip"),
        ("http://u:sec@ret@127.0.0.1:9/x.md", "http://127.0.0.1:9/x.md"),
        ("http://to@ken@host/x.md", "http://host/x.md"),
        ("HTTPS://u:pw@host/x.md?sig=hush", "HTTPS://host/x.md"),
        ("http://[2001:db8::1]/team@home/x.md", "http://[2001:db8::1]/team@home/x.md"),
        ("https://example.com:443?email=a@b.c", "https://example.com:443"),
        ("https://example.com?email=a@b.c", "https://example.com"),
        ("sftp://u:p@ss@host/a.md", "sftp://host/a.md"),
    ],
)
def test_documents_are_known_by_a_url_without_secrets(source: str, shown: str) -> None:
    assert without_secrets(source) == shown


@pytest.mark.parametrize(
    ("source", "opened"),
    [
        ("https://user:${PW}@host/a.md", "https://user:p%40ss%2Fw%3Ard@host/a.md"),
        ("https://host/${PW}.md?sig=${SIG}&v=1", "https://host/${PW}.md?sig=a%2Fb&v=1"),
        (
            "zip://*.md::https://u:${PW}@host/a.zip",
            "zip://*.md::https://u:p%40ss%2Fw%3Ard@host/a.zip",
        ),
        ("s3://bucket/${PW}", "s3://bucket/${PW}"),
    ],
)
def test_references_are_read_where_secrets_stand(source: str, opened: str) -> None:
    assert expanded(source, ENVIRONMENT) == opened


def test_a_fragment_is_not_recorded() -> None:
    assert as_recorded("https://host/a.html?q=${SIG}#token=hush") == "https://host/a.html?q=${SIG}"
    assert as_recorded("https://host/a.html#token=hush") == "https://host/a.html"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(RequestError, match=r"https://host/a: \$\{NONE\} is not set"):
        expanded("https://user:${NONE}@host/a", ENVIRONMENT)


@pytest.mark.parametrize(
    ("source", "secret"),
    [
        ("https://user:pw@host/a", True),
        ("https://ghp_1234@host/a", True),
        ("https://host/a?X-Amz-Signature=12", True),
        ("s3://AKIA:se/cret@bucket/a", True),
        ("postgresql://keeper:pw@db/x", True),
        ("https://user:${PW}@host/a?sig=${SIG}", False),
        ("https://host/a?page=2", False),
        ("https://host:8443/a", False),
        ("postgresql://keeper@db:5432/x", False),
        ("sqlite:///a.db", False),
        ("abfs://container@account.dfs/x", False),
    ],
)
def test_a_secret_that_is_written_out_is_found(source: str, secret: bool) -> None:
    assert holds_secret(source) is secret


def test_a_record_keeps_references_and_nothing_else() -> None:
    kept = "https://user:${PW}@host/a?sig=${SIG}"
    assert as_recorded(kept) == kept
    assert as_recorded("https://user:pw@host/a") == "https://host/a"
    assert as_recorded("https://host/a?anything=x") == "https://host/a"
    assert as_recorded("s3://bucket/docs/") == "s3://bucket/docs/"


def test_what_a_library_says_is_shown_without_secrets() -> None:
    url = expanded("https://user:${PW}@host/a?sig=${SIG}", ENVIRONMENT)
    assert "p@ss" not in hidden("401 for https://u:p@ss@host/x", "https://u:p@ss@host/x")
    said = f"401 for {url} (password p@ss/w:rd, signature a/b)"
    assert hidden(said, url) == "401 for https://user:***@host/a?*** (password ***, signature a/b)"
