"""Values as the rows hold them: chunks, and the parsed form that chunks can be made from again."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson
import sqlalchemy as sa

from chunkprep_ingest.ids import chunk_id, digest
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Chunk, Element, ParsedDocument, PreparedVersion
from chunkprep_ingest.replacement import Standing
from chunkprep_store.tables import chunks

_FAST = 1  # zlib level: four fifths of the best ratio at five times the speed


def to_json(value: object) -> str:
    """Compact JSON text; tuples become lists."""
    return orjson.dumps(value).decode()


def _tuples_json(values: Sequence[tuple[object, ...]]) -> str:
    """JSON of named tuples as lists; most chunks have none of most kinds."""
    return to_json(list(map(tuple, values))) if values else "[]"


def encode_elements(parsed: ParsedDocument) -> bytes:
    """The text and its elements, compressed."""
    payload = {"text": parsed.text, "elements": list(map(tuple, parsed.elements))}
    return zlib.compress(orjson.dumps(payload), _FAST)


def decode_elements(payload: bytes) -> tuple[str, tuple[Element, ...]]:
    """What `encode_elements` took."""
    found = orjson.loads(zlib.decompress(payload))
    return found["text"], tuple(Element(*e) for e in found["elements"])


def decode_text(payload: bytes) -> str:
    """The text alone, without making the elements."""
    return str(orjson.loads(zlib.decompress(payload))["text"])


def inputs_digest(prepared: PreparedVersion) -> str:
    """Of all that the chunk ids depend on, but for the document and the repeat."""
    prints = prepared.fingerprints
    return digest(
        prepared.content_hash, prepared.rendered, prints.reader, prints.policy, prints.profile
    )


def shared_columns(metadata: Metadata) -> dict[str, Any]:
    """The metadata that stands on the version and on each of its chunks."""
    return {
        "authority": metadata.authority,
        "access": to_json(metadata.access),
        "tags": to_json(metadata.tags),
        "source": metadata.source,
    }


def version_columns(metadata: Metadata) -> dict[str, Any]:
    """All metadata columns of a version."""
    return {
        **shared_columns(metadata),
        "metadata": metadata.model_dump_json(),
        "edition": metadata.edition,
        "valid_from": metadata.valid_from,
        "valid_to": metadata.valid_to,
        "review_by": metadata.review_by,
    }


def standing_columns(standing: Standing) -> dict[str, Any]:
    """Status and range, on the version and on each of its chunks."""
    return {
        "status": standing.status,
        "effective_from": standing.range.start,
        "effective_to": standing.range.end,
    }


CHUNK_COLUMNS = tuple(column.name for column in chunks.c if column.name != "id")


def insert_chunks(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert chunk rows in the driver's own words: a document may have thousands."""
    values = [_in_order(row) for row in rows]
    if not values:
        return
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_INSERT.format("chunks", _places("%s")), values)
        return
    # One statement for all: at each that fires a trigger SQLite writes out the search index.
    for statement in _ARRIVING:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(_INSERT.format("temp.arriving", _places("?")), values)
    connection.exec_driver_sql(_MOVE)


def _places(sign: str) -> str:
    return ", ".join([sign] * len(CHUNK_COLUMNS))


_in_order = itemgetter(*CHUNK_COLUMNS)
_NAMES = ", ".join(CHUNK_COLUMNS)
_INSERT = f"INSERT INTO {{}} ({_NAMES}) VALUES ({{}})"  # noqa: S608 - our own names
_ARRIVING = (
    f"CREATE TEMP TABLE IF NOT EXISTS arriving ({_NAMES})",
    "DELETE FROM temp.arriving",
)
_MOVE = f"INSERT INTO chunks ({_NAMES}) SELECT {_NAMES} FROM temp.arriving ORDER BY rowid"  # noqa: S608 - our own names


def chunk_rows(
    made: Iterable[Chunk], id_base: str, shared: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """One row per chunk; `shared` are the columns that all chunks of the version have alike."""
    for chunk in made:
        yield {
            "chunk_id": chunk_id(id_base, chunk.ordinal),
            "ordinal": chunk.ordinal,
            "text": chunk.text,
            "header": chunk.header,
            "block_tokens": chunk.block_tokens,
            "header_tokens": chunk.header_tokens,
            "delimiter_tokens": chunk.delimiter_tokens,
            "boundaries": _tuples_json(chunk.boundaries),
            "kind": chunk.kind,
            "truncatable": chunk.truncatable,
            "heading_path": to_json(chunk.heading_path),
            "page": chunk.page,
            "superseded_by": None,
            "held_from": None,
            "content_hash": chunk.content_hash,
            "signature": chunk.signature,
            "span_start": chunk.start,
            "span_end": chunk.end,
            "additions": _tuples_json(chunk.additions),
            "substitutions": _tuples_json(chunk.substitutions),
            "rendering": chunk.rendering,
            **shared,
        }
