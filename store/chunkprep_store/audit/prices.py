"""The recount: stored costs against a fresh count by the profile's own tokenizer (law 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import sqlalchemy as sa

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import NotFoundError, ProfileError
from chunkprep_store.audit.content import StoredChunk, StoredVersion
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.lists import UnreadableError, boundary_list, parsed
from chunkprep_store.audit.standing import rows
from chunkprep_store.collection import StoredProfile, get_profile
from chunkprep_store.tables import chunk_prices, chunks, policies

Counters = Callable[[str], Counter]
"""The counter of an encoding, by name; chunks are made again where it is a RunningCounter."""


def policy_caps(connection: sa.Connection) -> dict[str, int]:
    """The cap of each known policy that can be read, by fingerprint."""
    found = connection.execute(sa.select(policies.c.fingerprint, policies.c.settings))
    caps = ((row.fingerprint, _cap(row.settings)) for row in found)
    return {fingerprint: cap for fingerprint, cap in caps if cap is not None}


def _cap(settings: str) -> int | None:
    try:
        cap = parsed("settings", settings)["cap"]
    except (UnreadableError, KeyError, TypeError):
        return None  # the check `unreadable` says so
    return cap if isinstance(cap, int) else None


def further_caps(connection: sa.Connection, collection_id: int) -> Iterator[Finding]:
    """Blocks over the cap in a further encoding: allowed (law 2 is of the primary), but told."""
    for fingerprint, cap in policy_caps(connection).items():
        query = (
            sa.select(
                chunks.c.document,
                chunks.c.version,
                chunk_prices.c.encoding,
                sa.func.count().label("count"),
            )
            .select_from(chunk_prices.join(chunks, chunks.c.id == chunk_prices.c.chunk_row))
            .where(
                chunks.c.collection_id == collection_id,
                chunks.c.policy == fingerprint,
                chunk_prices.c.block_tokens > sa.literal(cap, sa.BigInteger),
            )
            .group_by(chunks.c.document, chunks.c.version, chunk_prices.c.encoding)
            .order_by(chunks.c.document, chunks.c.version, chunk_prices.c.encoding)
        )
        for row in rows(connection, query):
            text = f"{row.count} blocks cost more than the cap of {cap} in {row.encoding}"
            yield finding("cap", "info", text, row.document, row.version)


class Price(NamedTuple):
    """What is stored of one block's cost in one encoding."""

    header: str
    block_tokens: int
    boundaries: str
    profile: str


class Recount:
    """Counts blocks afresh. `every` n-th chunk only, where it is above 1."""

    def __init__(self, connection: sa.Connection, counters: Counters, every: int = 1) -> None:
        self._connection = connection
        self._counters = counters
        self._every = every
        self._seen = 0
        self._profiles: dict[str, StoredProfile | None] = {}

    def choose(self, version: StoredVersion) -> list[StoredChunk]:
        """The version's chunks that are to be counted."""
        return [chunk for chunk in version.chunks if self._choose()]

    def count_drift(self, version: StoredVersion, chosen: list[StoredChunk]) -> Iterator[Finding]:
        """Costs of blocks and of cut blocks that a fresh count does not give, and headers that
        the profile's template does not.
        """
        further = self._further(chosen)
        for chunk in chosen:
            own = Price(chunk.header, chunk.block_tokens, chunk.boundaries, chunk.profile)
            for price in (own, *further.get(chunk.row, ())):
                try:
                    wrong = self._wrong(chunk.text, price)
                except UnreadableError as error:
                    wrong = f"{error} (profile {price.profile})" if price is not own else None
                if wrong is not None:
                    yield version.finding("count_drift", wrong, chunk)

    def _choose(self) -> bool:
        self._seen += 1
        return self._seen % self._every == 0

    def _further(self, chosen: list[StoredChunk]) -> dict[int, list[Price]]:
        found: dict[int, list[Price]] = {}
        headers = {chunk.row: chunk.header for chunk in chosen}
        query = sa.select(chunk_prices).where(chunk_prices.c.chunk_row.in_(list(headers)))
        for row in self._connection.execute(query).all() if headers else ():
            header = headers[row.chunk_row] if row.header is None else row.header
            price = Price(header, row.block_tokens, row.boundaries, row.profile)
            found.setdefault(row.chunk_row, []).append(price)
        return found

    def _profile(self, fingerprint: str) -> StoredProfile | None:
        if fingerprint not in self._profiles:
            try:
                self._profiles[fingerprint] = get_profile(self._connection, fingerprint)
            except ProfileError:
                self._profiles[fingerprint] = None  # the check `unreadable` says so
        return self._profiles[fingerprint]

    def _wrong(self, text: str, price: Price) -> str | None:
        try:
            profile = self._profile(price.profile)
        except NotFoundError as error:
            self._profiles[price.profile] = None  # told once, of the first of its chunks
            return str(error)
        if profile is None:
            return None
        count = self._counters(profile.encoding).count
        template = profile.template
        before, after = template.opening + template.before_label, template.after_label
        if not (price.header.startswith(before) and price.header.endswith(after)):
            return f"the header {price.header[:60]!r} is not of the template of {price.profile}"
        fresh = count(price.header + text + template.delimiter) + profile.margin
        if fresh != price.block_tokens:
            return f"the block costs {fresh} {profile.encoding} tokens, not {price.block_tokens}"
        for offset, _, tokens in boundary_list(price.boundaries):
            cut = price.header + template.cut(text, offset) + template.delimiter
            fresh = count(cut) + profile.margin
            if fresh != tokens:
                return f"cut at {offset} it costs {fresh} {profile.encoding} tokens, not {tokens}"
        return None
