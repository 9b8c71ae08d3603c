"""The recount's other half: chunks made again from the stored elements, and compared (law 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import orjson
import sqlalchemy as sa

from chunkprep_ingest.counting import Counter, RunningCounter
from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.ids import chunk_id_base, digest
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.prepare import content_hash, signed
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.split import split_document
from chunkprep_store.audit.content import StoredVersion
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.prices import Counters
from chunkprep_store.audit.stopped import UNREAD, cause
from chunkprep_store.collection import get_policy, get_profile
from chunkprep_store.documents import parsed_form
from chunkprep_store.rows import chunk_rows
from chunkprep_store.tables import chunks, collections, documents, versions

COMPARED = (
    "chunk_id", "text", "header", "block_tokens", "header_tokens", "delimiter_tokens",
    "boundaries", "kind", "truncatable", "heading_path", "page", "content_hash", "signature",
    "span_start", "span_end", "additions", "substitutions", "rendering",
)  # fmt: skip
"""The columns of a chunk that follow from the version's elements, policy and profile."""
_JSON = frozenset({"boundaries", "heading_path", "additions", "substitutions"})


def _can_split() -> bool:
    """Whether what splitting needs is installed: the base install, for packing, does without."""
    try:
        import numpy  # noqa: F401
        import rensa  # noqa: F401
    except ImportError:
        return False
    return True


class _Bench(NamedTuple):
    """What a version's chunks are made with."""

    policy: Policy
    profile: Profile
    counter: RunningCounter


class Remake:
    """Makes versions' chunks again, where policy and profile are still what their fingerprints
    were made of: another splitter or tokenizer would make other chunks. `alone`: no other check
    tells of policies and profiles that cannot be read.
    """

    def __init__(
        self,
        connection: sa.Connection,
        collection_id: int,
        counters: Counters,
        *,
        alone: bool = False,
    ) -> None:
        self._connection = connection
        self._counters = counters
        self._alone = alone
        self._collection = connection.execute(
            sa.select(collections.c.name).where(collections.c.id == collection_id)
        ).scalar_one()
        self._benches: dict[tuple[str, str], _Bench | None] = {}

    def remade(self, version: StoredVersion) -> Iterator[Finding]:
        """Columns of chunks, and digests of the version, that its elements do not give."""
        if not version.chunks:
            return
        row = self._row(version.chunks[0].version_id)
        key = (row.policy, row.profile)
        if key not in self._benches:
            self._benches[key] = None
            yield from self._set_up(*key)
        bench = self._benches[key]
        if bench is None:
            return
        try:
            made = self._made(row, bench)
            yield from _digests(version, row)
            yield from self._compared(version, made)
        except (ChunkprepError, *UNREAD) as error:
            text = f"the stored elements give no chunks any more: {cause(error)}"
            yield version.finding("remade", text)

    def _row(self, version_id: int) -> sa.Row[Any]:
        """The version, and how many earlier ones of its document had the same inputs."""
        earlier = versions.alias("earlier")
        repeat = (
            sa.select(sa.func.count())
            .where(
                earlier.c.document_id == versions.c.document_id,
                earlier.c.version < versions.c.version,
                earlier.c.inputs == versions.c.inputs,
            )
            .scalar_subquery()
            .label("repeat")
        )
        query = sa.select(versions, documents.c.document, repeat).join(
            documents, documents.c.id == versions.c.document_id
        )
        return self._connection.execute(query.where(versions.c.id == version_id)).one()

    def _set_up(self, policy_print: str, profile_print: str) -> Iterator[Finding]:
        """Policy, profile and counter of some versions; why they are not made again, once."""
        try:
            policy = get_policy(self._connection, policy_print)
            stored = get_profile(self._connection, profile_print)
        except (ChunkprepError, *UNREAD) as error:
            if self._alone:  # else the check `unreadable` says so, or the recount
                text = f"chunks of policy {policy_print} and profile {profile_print} were not made "
                yield finding("remade", "error", f"{text}again: {cause(error)}")
            return
        counter = self._counters(stored.encoding)
        if not _splits(counter):
            return
        if not _can_split():
            text = "chunks were not made again: that needs `pip install 'chunkprep[ingest]'`"
            yield finding("remade", "info", text)
            return
        if policy is None or policy.fingerprint != policy_print:
            text = f"chunks of policy {policy_print} were not made again: its settings are gone or "
            yield finding("remade", "warning", text + "changed, or the splitter is another by now")
            return
        profile = make_profile(counter, stored.template)
        if profile.fingerprint != profile_print:
            text = f"chunks of profile {profile_print} were not made again: its template was "
            yield finding("remade", "warning", text + "changed, or the tokenizer is another by now")
            return
        self._benches[policy_print, profile_print] = _Bench(policy, profile, counter)

    def _made(self, row: sa.Row[Any], bench: _Bench) -> list[Mapping[str, Any]]:
        """The version's chunk rows as they would be written now."""
        parsed = parsed_form(self._connection, row.id)
        date = orjson.loads(row.rendered).get("date")
        title = row.title
        found, _ = split_document(parsed, title, bench.policy, bench.profile, bench.counter, date)
        base = chunk_id_base(
            self._collection,
            row.document,
            row.content_hash,
            row.rendered,
            (row.reader, row.policy, row.profile),
            row.repeat,
        )
        return list(chunk_rows(signed(found), base, {}))

    def _compared(
        self, version: StoredVersion, made: Sequence[Mapping[str, Any]]
    ) -> Iterator[Finding]:
        query = sa.select(*(chunks.c[name] for name in COMPARED)).where(
            chunks.c.version_id == version.chunks[0].version_id
        )
        stored = self._connection.execute(query.order_by(chunks.c.ordinal)).all()
        if len(stored) != len(made):
            text = f"the stored elements give {len(made)} chunks, {len(stored)} are stored"
            yield version.finding("remade", text)
            return
        for chunk, old, new in zip(version.chunks, stored, made, strict=True):
            wrong = [name for name in COMPARED if _differs(name, getattr(old, name), new[name])]
            if wrong:
                text = f"not what the stored elements give: {', '.join(wrong)} of the chunk"
                yield version.finding("remade", text, chunk)


def _splits(counter: Counter) -> TypeGuard[RunningCounter]:
    return hasattr(counter, "running")


def _digests(version: StoredVersion, row: sa.Row[Any]) -> Iterator[Finding]:
    """The version's own digests, which chunk ids and the next ingest go by."""
    prints = (row.reader, row.policy, row.profile)
    expected = {
        "content_hash": content_hash(version.text or "", row.title),
        "inputs": digest(row.content_hash, row.rendered, *prints),
    }
    wrong = [name for name, value in expected.items() if getattr(row, name) != value]
    if wrong:
        text = f"not what the version's text and title give: {', '.join(wrong)} of the version"
        yield version.finding("remade", text)


def _differs(name: str, stored: Any, made: Any) -> bool:
    if stored == made:
        return False
    if name not in _JSON:
        return True
    try:
        return bool(orjson.loads(stored) != orjson.loads(made))
    except orjson.JSONDecodeError:
        return True
