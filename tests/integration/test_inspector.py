"""The pages within the service: the API's keys, sent the way a browser can."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from fastapi.testclient import TestClient
from tests.support.ingesting import ingest

from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.inspector import inspector_router
from chunkprep_packer.service.keys import issue, token_of
from chunkprep_packer.service.settings import ServiceSettings
from chunkprep_store import Store
from chunkprep_store.keys import Role

NOW = 1_700_000_000_000_000
WHOLE = ("packs", "corpus", "health", "runs")
LISTS = "/pages/default/documents"
_NAMES = count()


@pytest.fixture
def browser(store: Store) -> Iterator[TestClient]:
    ingest(store, "refund.md", "# Refund\n\nPaid within 14 days.\n", now=NOW)
    app = create_app(ServiceSettings(store.url), routers=[inspector_router()])
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def password(
    store: Store, role: Role, collections: list[str] | None = None, access: list[str] | None = None
) -> tuple[str, str]:
    """What a browser's user types: any name, and a new key."""
    token, key = issue(f"key{next(_NAMES)}", role, collections, access, now=NOW)
    store.add_api_key(key)
    return "anybody", token


def test_without_keys_this_machine_sees_everything(browser: TestClient) -> None:
    for page in ("documents", *WHOLE):
        assert browser.get(f"/pages/default/{page}").status_code == 200
    assert browser.get(LISTS, headers={"host": "rebound.example"}).status_code == 403


def test_with_keys_a_browser_is_asked_for_one(browser: TestClient, store: Store) -> None:
    allowed = password(store, "admin")
    refused = browser.get(LISTS)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic ")
    assert browser.get(LISTS, auth=("anybody", "wrong")).status_code == 401
    for page in ("documents", *WHOLE):
        assert browser.get(f"/pages/default/{page}", auth=allowed).status_code == 200


def test_a_key_that_may_read_sees_documents_and_no_whole_collection(
    browser: TestClient, store: Store
) -> None:
    for reader in (password(store, "read"), password(store, "admin", access=["hr"])):
        assert browser.get(LISTS, auth=reader).status_code == 200
        for page in WHOLE:
            assert browser.get(f"/pages/default/{page}", auth=reader).status_code == 403


def test_a_key_of_another_collection_sees_neither_page_nor_name(
    browser: TestClient, store: Store
) -> None:
    stranger = password(store, "admin", collections=["payroll"])
    assert browser.get(LISTS, auth=stranger).status_code == 403
    found = browser.get("/pages?format=json", auth=stranger).json()
    assert found["all"] == []


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Basic YW55Ym9keTphYmM=", "abc"),
        ("Basic YW55Ym9keQ==", ""),
        ("Basic not base64", ""),
        ("Basic /////w==", ""),
        ("Digest abc", ""),
        ("", ""),
    ],
)
def test_the_token_of_an_authorization_header(header: str, token: str) -> None:
    assert token_of(header) == token
