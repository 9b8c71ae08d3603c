"""Documents into a store in one line: read, prepare, write, without Prefect."""

from __future__ import annotations

from typing import Any

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Moment
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter
from chunkprep_store import Store, WriteOutcome


def ingest(
    store: Store,
    document: str,
    text: str,
    *,
    now: Moment,
    collection: str = "default",
    cap: int = 64,
    encoding: str = "o200k_base",
    template: str = "markdown",
    uri: str | None = None,
    **metadata: Any,
) -> WriteOutcome:
    """Store a Markdown text as a version of `document` at the moment `now`."""
    counter: RunningCounter = tiktoken_counter(encoding)
    profile, policy = make_profile(counter, TEMPLATES[template]), Policy(cap=cap)
    store.put_profile(
        profile.fingerprint, encoding, profile.template.to_json(), profile.ordinal_tokens or 0
    )
    store.put_policy(policy)
    data = text.encode()
    prepared = prepare_version(
        read(data, document, ReadOptions()),
        document=document,
        uri=uri or f"file:{document}",
        data_hash=bytes_hash(data + repr(metadata).encode()),
        metadata=Metadata(**metadata),
        policy=policy,
        profile=profile,
        counter=counter,
    )
    return store.write_version(collection, prepared, now=now)


def chunk_ids(store: Store, document: str, collection: str = "default") -> list[str]:
    """The ids of a document's current chunks, in order."""
    return [row.chunk_id for row in store.chunks(collection, document)]
