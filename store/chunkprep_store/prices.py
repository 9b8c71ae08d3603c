"""Prices of stored chunks in further encodings: ids and texts stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_store.rows import to_json
from chunkprep_store.tables import chunk_prices, chunks, profiles


class FurtherPrice(NamedTuple):
    """What a chunk's block costs in a further encoding; `header` where the template differs."""

    chunk_id: str
    block_tokens: int
    header_tokens: int
    delimiter_tokens: int
    boundaries: tuple[Boundary, ...]
    header: str | None = None


def unpriced_chunks(
    connection: sa.Connection, collection_id: int, encoding: str
) -> Iterator[ChunkRow]:
    """Chunks of any standing that have no price in an encoding yet, document by document."""
    price = sa.and_(chunk_prices.c.chunk_row == chunks.c.id, chunk_prices.c.encoding == encoding)
    query = (
        sa.select(*(chunks.c[name] for name in ChunkRow._fields))
        .select_from(
            chunks.outerjoin(chunk_prices, price).outerjoin(
                profiles, profiles.c.fingerprint == chunks.c.profile
            )
        )
        .where(
            chunks.c.collection_id == collection_id,
            chunk_prices.c.chunk_row.is_(None),
            profiles.c.encoding.is_distinct_from(encoding),
        )
        .order_by(chunks.c.version_id, chunks.c.ordinal)
    )
    for row in connection.execute(query, execution_options={"yield_per": 500}):
        yield ChunkRow._make(row)


def priced_encodings(connection: sa.Connection, collection_id: int) -> list[str]:
    """The encodings that chunks of a collection have prices in, by name."""
    ours = chunks.c.collection_id == collection_id
    own = sa.exists().where(ours, chunks.c.profile == profiles.c.fingerprint)
    further = sa.exists().where(
        ours,
        chunk_prices.c.chunk_row == chunks.c.id,
        chunk_prices.c.encoding == profiles.c.encoding,
    )
    query = sa.select(profiles.c.encoding).where(own | further).distinct()
    return sorted(connection.execute(query).scalars())


def put_prices(
    connection: sa.Connection,
    collection_id: int,
    encoding: str,
    profile: str,
    prices: Sequence[FurtherPrice],
) -> int:
    """Store prices (in place of earlier ones); returns how many chunks were still there."""
    ids = {price.chunk_id: price for price in prices}
    found = connection.execute(
        sa.select(chunks.c.id, chunks.c.chunk_id).where(
            chunks.c.collection_id == collection_id, chunks.c.chunk_id.in_(list(ids))
        )
    ).all()
    rows = [_row(row.id, encoding, profile, ids[row.chunk_id]) for row in found]
    if rows:
        make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        insert = make(chunk_prices)
        changed = {name: insert.excluded[name] for name in rows[0] if name not in _KEY}
        connection.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=changed), rows)
    return len(rows)


_KEY = ["chunk_row", "encoding"]


def _row(number: int, encoding: str, profile: str, price: FurtherPrice) -> dict[str, object]:
    return {
        "chunk_row": number,
        "encoding": encoding,
        "profile": profile,
        "header": price.header,
        "block_tokens": price.block_tokens,
        "header_tokens": price.header_tokens,
        "delimiter_tokens": price.delimiter_tokens,
        "boundaries": to_json([tuple(b) for b in price.boundaries]),
    }
