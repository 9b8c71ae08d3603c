"""Erase: a right to be forgotten. Nothing of the document's content stays, only a tombstone."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from chunkprep_ingest.model import Moment
from chunkprep_store.changes import Outbox
from chunkprep_store.documents import not_found
from chunkprep_store.history import lock_documents
from chunkprep_store.links import lock_links
from chunkprep_store.prune import remove_content
from chunkprep_store.succession import Moved, forget_links_by_hand, let_go
from chunkprep_store.tables import (
    changes,
    chunks,
    documents,
    failures,
    pack_chunks,
    packs,
    versions,
)


class Erased(NamedTuple):
    """What was removed; `packs` are log entries whose texts were redacted."""

    versions: int
    chunks: int
    packs: int
    moved: tuple[Moved, ...] = ()
    """What it was to replace from a day still to come, open again."""


KEPT_IN_LOGS = frozenset({"chunk_id", "rank", "score", "tokens", "outcome", "reason"})
"""What a logged decision or block still says of an erased chunk: numbers and ids."""


def erase(connection: sa.Connection, collection_id: int, key: str, now: Moment) -> Erased:
    """Remove every version, element, feed text and logged text of a document.

    Its key stays as a tombstone: it is not ingested again until `restore`. Links onto it that other
    documents declare stay, so that it is born superseded then. Raises NotFoundError.
    Run `vacuum` afterwards, so that the freed pages hold nothing either.
    """
    lock_links(connection, collection_id)
    document = lock_documents(connection, collection_id, [key]).get(key)
    failed = connection.execute(
        failures.delete().where(
            failures.c.collection_id == collection_id, failures.c.document == key
        )
    ).rowcount
    if document is None or (document.last_version == 0 and not failed):
        raise not_found(key)
    owned = versions.c.document_id == document.id
    ids = list(connection.execute(sa.select(versions.c.id).where(owned)).scalars())
    chunk_ids = set(
        connection.execute(
            sa.select(chunks.c.chunk_id).where(chunks.c.version_id.in_(ids))
        ).scalars()
    )
    chunk_ids |= set(
        connection.execute(
            sa.select(changes.c.chunk_id)
            .where(changes.c.collection_id == collection_id, changes.c.document == key)
            .distinct()
        ).scalars()
    )
    redacted = _redact_packs(connection, collection_id, key, chunk_ids)
    outbox = Outbox(collection_id, now)
    moved = let_go(connection, document, outbox)
    removed = remove_content(connection, ids, outbox)
    forgotten = pack_chunks.c.version_id.in_(ids)
    connection.execute(pack_chunks.update().where(forgotten).values(version_id=None))
    connection.execute(versions.delete().where(owned))
    forget_links_by_hand(connection, document)
    connection.execute(
        documents.update()
        .where(documents.c.id == document.id)
        .values(erased_at=now, current_version=None)
    )
    outbox.send(connection)
    return Erased(len(ids), removed, redacted, tuple(moved))


def _redact_packs(
    connection: sa.Connection, collection_id: int, key: str, chunk_ids: set[str]
) -> int:
    """Take the document's texts and names out of logged results and requests."""
    count = last = 0
    while True:
        query = (
            sa.select(packs.c.id, packs.c.request, packs.c.result)
            .where(packs.c.collection_id == collection_id, packs.c.id > last)
            .order_by(packs.c.id)
            .limit(_BATCH)
        )
        found = connection.execute(query).all()
        if not found:
            return count
        last = found[-1].id
        for row in found:
            if any(_mentions(text, key, chunk_ids) for text in (row.request, row.result)):
                values = {
                    name: _redacted(getattr(row, name), key, chunk_ids)
                    for name in ("request", "result")
                }
                connection.execute(packs.update().where(packs.c.id == row.id).values(values))
                count += 1


_BATCH = 500
_ID = re.compile(r"[0-9a-f]{32}")


def _mentions(text: str, key: str, chunk_ids: set[str]) -> bool:
    names = (orjson.dumps(key).decode(), json.dumps(key))
    return any(name in text for name in names) or not chunk_ids.isdisjoint(_ID.findall(text))


def _redacted(text: str, key: str, chunk_ids: set[str]) -> str:
    value = _redact(orjson.loads(text), key, chunk_ids)
    if isinstance(value, dict) and "text" in value:
        value["text"] = ""  # a rendered context would hold the chunks' own words
    return orjson.dumps(value).decode()


def _redact(value: Any, key: str, chunk_ids: set[str]) -> Any:
    """The same JSON, where an object that speaks of the document keeps only KEPT_IN_LOGS, and
    its key (as a pin, say) is emptied.
    """
    if isinstance(value, dict):
        if value.get("chunk_id") in chunk_ids or value.get("document") == key:
            return {name: value[name] for name in KEPT_IN_LOGS if name in value}
        return {name: _redact(item, key, chunk_ids) for name, item in value.items()}
    if isinstance(value, list):
        return [_redact(item, key, chunk_ids) for item in value]
    return "" if value == key else value
