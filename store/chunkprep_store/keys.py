"""API keys of the HTTP service: what each may do. Of its secret the store holds a hash only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import orjson
import sqlalchemy as sa

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.model import Moment
from chunkprep_store.tables import api_keys

Role = Literal["read", "admin"]


class ApiKey(NamedTuple):
    """A key. `collections` and `access` (labels): None means all, () none."""

    key_id: str
    name: str
    secret_hash: str
    role: Role
    collections: tuple[str, ...] | None
    access: tuple[str, ...] | None
    created_at: Moment
    revoked_at: Moment | None = None


def add_key(connection: sa.Connection, key: ApiKey) -> None:
    """Store a key."""
    row = {**key._asdict(), "collections": _json(key.collections), "access": _json(key.access)}
    connection.execute(api_keys.insert(), row)


def list_keys(connection: sa.Connection) -> list[ApiKey]:
    """Every key, revoked ones included, the oldest first."""
    query = sa.select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
    return [_key(row) for row in connection.execute(query)]


def revoke_key(connection: sa.Connection, key_id: str, now: Moment) -> None:
    """End a key; one that has ended keeps its date. Raises NotFoundError."""
    mine = api_keys.c.key_id == key_id
    if connection.execute(sa.select(api_keys.c.key_id).where(mine)).first() is None:
        raise NotFoundError(f"there is no API key {key_id!r}; `chunkprep keys list` shows them")
    open_ones = api_keys.update().where(mine, api_keys.c.revoked_at.is_(None))
    connection.execute(open_ones.values(revoked_at=now))


def _json(names: Sequence[str] | None) -> str:
    return orjson.dumps(names).decode()


def _names(text: str) -> tuple[str, ...] | None:
    found = orjson.loads(text)
    return None if found is None else tuple(found)


def _key(row: sa.Row[Any]) -> ApiKey:
    return ApiKey(
        row.key_id, row.name, row.secret_hash, row.role, _names(row.collections),
        _names(row.access), row.created_at, row.revoked_at,
    )  # fmt: skip
