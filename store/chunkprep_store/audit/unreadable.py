"""Check that the JSON texts of versions, policies and profiles can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.template import Template
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.lists import UnreadableError, parsed
from chunkprep_store.audit.standing import rows
from chunkprep_store.tables import (
    chunk_prices,
    chunks,
    collections,
    documents,
    policies,
    profiles,
    versions,
)

Read = Callable[[str, str], object]
"""Reads a column's text, raising what `_UNREAD` names."""
_UNREAD = (UnreadableError, ValidationError, ChunkprepError, TypeError)


def _metadata(_: str, text: str) -> object:
    return Metadata.model_validate_json(text)


def _list(column: str, text: str) -> object:
    found = parsed(column, text)
    if not isinstance(found, list):
        raise UnreadableError(f"{column} {text[:60]!r} is no list")
    return found


def _object(column: str, text: str) -> dict[str, Any]:
    found = parsed(column, text)
    if not isinstance(found, dict):
        raise UnreadableError(f"{column} {text[:60]!r} is no object")
    return found


_OF_VERSIONS: dict[str, Read] = {
    "overrides": _object,
    "rendered": _object,
    "access": _list,
    "tags": _list,
    "missing": _list,
    "warnings": _list,
}
JSON_COLUMNS = ("metadata", "source_metadata", *_OF_VERSIONS)
"""The JSON texts of a version."""
_NOTHING = ("[]", "{}")


def readable_metadata(row: sa.Row[Any]) -> tuple[Metadata | None, list[Finding]]:
    """A version's metadata, where all JSON_COLUMNS can be read; else what is wrong with them."""
    found: list[Finding] = []
    metadata = None
    try:
        metadata = Metadata.model_validate_json(row.metadata)
    except ValidationError as error:
        found.append(_of_row(row, f"metadata {row.metadata[:60]!r}: {error}"))
    reads = {"source_metadata": _metadata} if row.source_metadata != row.metadata else {}
    for name, read in (*reads.items(), *_OF_VERSIONS.items()):
        text = getattr(row, name)
        wrong = None if text in _NOTHING else _wrong(read, name, text)
        if wrong is not None:
            found.append(_of_row(row, wrong))
    return (None if found else metadata), found


def _of_row(row: sa.Row[Any], message: str) -> Finding:
    return finding("unreadable", "error", message, row.document, row.version)


def _settings(column: str, text: str) -> object:
    if not isinstance(_object(column, text).get("cap"), int):
        raise UnreadableError(f"{column} {text[:60]!r} name no cap")
    return text


def unreadable(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Policies and profiles of the collection that cannot be read."""
    yield from _policies(connection, collection_id)
    yield from _profiles(connection, collection_id)


def _wrong(read: Read, name: str, text: str) -> str | None:
    try:
        read(name, text)
    except _UNREAD as error:
        message = str(error)
        return message if message.startswith(name) else f"{name} {text[:60]!r}: {message}"
    return None


def _policies(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Policies that the collection's versions were split by, or are to be."""
    primary = sa.select(collections.c.policy).where(collections.c.id == collection_id)
    used = sa.or_(
        policies.c.fingerprint.in_(_of_versions(collection_id, "policy")),
        policies.c.fingerprint == primary.scalar_subquery(),
    )
    query = sa.select(policies.c.fingerprint, policies.c.settings).where(used)
    for row in rows(connection, query.order_by(policies.c.fingerprint)):
        wrong = _wrong(_settings, "settings", row.settings)
        if wrong is not None:
            yield finding("unreadable", "error", f"policy {row.fingerprint}: {wrong}")


def _profiles(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Profiles that the collection's chunks are priced under."""
    further = (
        sa.select(chunk_prices.c.profile)
        .distinct()
        .select_from(chunk_prices.join(chunks, chunks.c.id == chunk_prices.c.chunk_row))
        .where(chunks.c.collection_id == collection_id)
    )
    used = sa.union(_of_versions(collection_id, "profile"), further).subquery()
    query = sa.select(used.c.profile, profiles.c.template).join(
        profiles, profiles.c.fingerprint == used.c.profile
    )
    for row in rows(connection, query.order_by(used.c.profile)):
        wrong = _wrong(lambda _, text: Template.from_json(text), "template", row.template)
        if wrong is not None:
            yield finding("unreadable", "error", f"profile {row.profile}: {wrong}")


def _of_versions(collection_id: int, column: str) -> sa.Select[str]:
    return (
        sa.select(versions.c[column])
        .join(documents, documents.c.id == versions.c.document_id)
        .where(documents.c.collection_id == collection_id, versions.c.pruned_at.is_(None))
        .distinct()
    )
