"""Collections, and the policies and profiles that their chunks were made with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.model import Moment
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import Template
from chunkprep_store.tables import collections, policies, profiles


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """What the packer needs of a profile: `ordinal_tokens` is the cost of a number in a header,
    `exact` says that prices add up to the token, `margin` is part of each price where they do not.
    """

    fingerprint: str
    encoding: str
    template: Template
    ordinal_tokens: int
    exact: bool = True
    margin: int = 0


def insert_if_absent(
    connection: sa.Connection, table: sa.Table, rows: dict[str, object] | list[dict[str, object]]
) -> None:
    """Insert rows whose unique key is not there yet."""
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(make(table).on_conflict_do_nothing(), rows)


def find_collection(connection: sa.Connection, name: str) -> int:
    """The collection's row number. Raises NotFoundError."""
    found = connection.execute(_BY_NAME, {"name": name}).scalar()
    if found is None:
        raise NotFoundError(
            f"collection {name!r} does not exist in this store; ingest into it first, or check "
            f"--collection"
        )
    return int(found)


_BY_NAME = sa.select(collections.c.id).where(collections.c.name == sa.bindparam("name"))


def ensure_collection(
    connection: sa.Connection,
    name: str,
    now: Moment,
    policy: str | None = None,
    profile: str | None = None,
) -> int:
    """The collection's row number; made, with its primary policy and profile, when absent."""
    found = connection.execute(
        sa.select(collections.c.id, collections.c.policy).where(collections.c.name == name)
    ).first()
    if found is None:
        row: dict[str, object] = {
            "name": name, "policy": policy, "profile": profile, "created_at": now
        }  # fmt: skip
        insert_if_absent(connection, collections, row)
        return find_collection(connection, name)
    if found.policy is None and policy is not None:
        set_primary(connection, int(found.id), policy, profile)
    return int(found.id)


def set_primary(
    connection: sa.Connection, collection_id: int, policy: str | None, profile: str | None
) -> None:
    """Record what the collection's chunks are to be made with; drift is measured against it.

    Nothing is written where it stands there already.
    """
    given = {"policy": policy, "profile": profile}
    values = {key: value for key, value in given.items() if value is not None}
    differs = sa.or_(
        sa.false(), *(collections.c[key].is_distinct_from(v) for key, v in values.items())
    )
    connection.execute(
        collections.update().where(collections.c.id == collection_id, differs).values(values)
    )


def put_profile(
    connection: sa.Connection,
    fingerprint: str,
    encoding: str,
    template_json: str,
    ordinal_tokens: int,
    exact: bool = True,
    margin: int = 0,
) -> None:
    """Keep a profile; nothing happens when it is there."""
    row: dict[str, object] = {
        "fingerprint": fingerprint,
        "encoding": encoding,
        "template": template_json,
        "ordinal_tokens": ordinal_tokens,
        "exact": exact,
        "margin": margin,
    }
    insert_if_absent(connection, profiles, row)


def get_profile(connection: sa.Connection, fingerprint: str) -> StoredProfile:
    """The profile with this fingerprint. Raises NotFoundError."""
    row = connection.execute(
        sa.select(profiles).where(profiles.c.fingerprint == fingerprint)
    ).first()
    if row is None:
        raise NotFoundError(f"profile {fingerprint} is not in this store; ingest once more")
    return StoredProfile(
        row.fingerprint,
        row.encoding,
        Template.from_json(row.template),
        row.ordinal_tokens,
        row.exact,
        row.margin,
    )


def primary_profile(connection: sa.Connection, collection: str) -> StoredProfile:
    """The profile that the collection's chunks are priced under."""
    fingerprint = connection.execute(
        sa.select(collections.c.profile).where(collections.c.name == collection)
    ).scalar()
    if fingerprint is None:
        find_collection(connection, collection)
        raise NotFoundError(f"collection {collection!r} has no profile yet; ingest into it first")
    return get_profile(connection, fingerprint)


def primary_policy(connection: sa.Connection, collection: str) -> Policy | None:
    """The policy that the collection's chunks are made with, where it was put."""
    fingerprint = connection.execute(
        sa.select(collections.c.policy).where(collections.c.name == collection)
    ).scalar()
    return None if fingerprint is None else get_policy(connection, fingerprint)


def put_policy(connection: sa.Connection, policy: Policy) -> None:
    """Keep a policy; nothing happens when it is there."""
    settings = json.dumps(asdict(policy), sort_keys=True)
    insert_if_absent(
        connection, policies, {"fingerprint": policy.fingerprint, "settings": settings}
    )


def get_policy(connection: sa.Connection, fingerprint: str) -> Policy | None:
    """The policy with this fingerprint, or None."""
    settings = connection.execute(
        sa.select(policies.c.settings).where(policies.c.fingerprint == fingerprint)
    ).scalar()
    return None if settings is None else Policy(**json.loads(settings))


def list_collections(connection: sa.Connection) -> list[str]:
    """The names of the collections, in order."""
    return list(
        connection.execute(sa.select(collections.c.name).order_by(collections.c.name)).scalars()
    )


def collection_id_or_none(connection: sa.Connection, name: str) -> int | None:
    """The collection's row number, or None."""
    return connection.execute(_BY_NAME, {"name": name}).scalar()
