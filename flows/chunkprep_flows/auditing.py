"""The audit with what only this layer knows: source files, index files, the tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chunkprep_ingest.model import Moment
from chunkprep_store import Store


def findings(
    store: Store,
    collection: str,
    *,
    now: Moment,
    sources: Sequence[str] = (),
    index_ids: Path | None = None,
    recount: int | str | None = None,
    checks: Sequence[str] = (),
) -> Iterator[Any]:
    """Every finding of the audit."""
    return iter(())
