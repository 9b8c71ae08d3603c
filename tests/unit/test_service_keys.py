"""API keys: what is stored of them, what a token opens, and what it does not."""

from __future__ import annotations

import pytest

from chunkprep_packer.service.keys import Grant, hash_of, issue, recognise
from chunkprep_store import Store
from chunkprep_store.keys import ApiKey

TOKEN, KEY = issue("assistant", "read", ["handbook"], ["hr"], now=1)


def test_the_row_holds_a_hash_and_not_the_secret() -> None:
    secret = TOKEN.rpartition("_")[2]
    assert len(bytes.fromhex(secret)) * 8 == 256
    assert secret not in repr(KEY)
    assert KEY.secret_hash == hash_of(secret)


def test_a_token_opens_what_its_key_grants() -> None:
    granted = recognise(TOKEN, [KEY])
    assert granted == Grant("read", frozenset({"handbook"}), frozenset({"hr"}), KEY.key_id)
    assert (granted.may_read("handbook"), granted.may_read("payroll")) == (True, False)
    assert granted.missing(["hr", "board"]) == ["board"]


def test_none_means_all() -> None:
    granted = Grant("read", None, None)
    assert granted.may_read("anything")
    assert granted.missing(["board"]) == []


@pytest.mark.parametrize(
    "token",
    ["", "_", "__", "chunkprep__", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), TOKEN[1:], "ü_ü_ü",
     f"chunkprep_{KEY.key_id}_", f"other_{TOKEN.partition('_')[2]}"],
)  # fmt: skip
def test_any_other_token_opens_nothing(token: str) -> None:
    assert recognise(token, [KEY]) is None
    assert recognise(token, []) is None


def test_a_revoked_key_opens_nothing() -> None:
    assert recognise(TOKEN, [KEY._replace(revoked_at=2)]) is None


def test_keys_come_back_from_the_store_as_they_were(store: Store) -> None:
    everything = ApiKey("k2", "ops", "hash", "admin", None, None, 2)
    store.add_api_key(KEY)
    store.add_api_key(everything)
    store.revoke_api_key(KEY.key_id, now=5)
    store.revoke_api_key(KEY.key_id, now=9)
    assert store.api_keys() == [KEY._replace(revoked_at=5), everything]
