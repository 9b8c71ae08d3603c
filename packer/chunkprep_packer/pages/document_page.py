"""The document page: a version's chunks as bands, their boundaries, and what succeeded them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import orjson

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.lifecycle import in_force, iso, out_of_force_reason
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_store import Store, VersionInfo

PAGE = 100
"""Chunks shown at once."""

MOST_CHANGES = 100
"""Changed chunks shown word by word."""

MOST_TEXT = 1_000_000
"""Characters shown of a document as it was read."""

METADATA = ("source", "edition", "authority", "access", "tags")
"""What is shown of a version's metadata, beside its title and dates."""

MOST_WORDS = 2000
"""Longer chunks are compared as a whole, since comparing words grows with their square."""


def document_facts(
    store: Store,
    collection: str,
    document: str,
    *,
    at: Moment,
    version: int | None = None,
    against: int | None = None,
    first: int = 0,
    most_text: int = MOST_TEXT,
) -> dict[str, Any]:
    """Everything the page shows: the version in force at `at` unless another is asked for.

    `against` is the version to compare with (default: the one before). Raises NotFoundError.
    """
    versions = store.versions(collection, document)
    shown = _chosen(versions, version, at)
    other = _other(versions, shown, against)
    rows = store.chunks(collection, document, shown.version)
    before = [] if other is None else store.chunks(collection, document, other.version)
    pairs = [] if other is None else succession(before, rows)
    changed = [pair for pair in pairs if not _same(*pair)]
    text = _text(store, collection, document, shown.version)
    policy = store.policy(shown.policy)
    cap = None if policy is None else policy.cap
    return {
        "collection": collection,
        "document": document,
        "title": shown.title,
        "at": iso(at),
        "version": shown.version,
        "cap": cap,
        "chunk_count": len(rows),
        "tokens": sum(row.block_tokens for row in rows),
        "first": first,
        "next": first + PAGE if first + PAGE < len(rows) else None,
        "previous": max(first - PAGE, 0) if first else None,
        "versions": [_version_record(info, at) for info in versions],
        "chunks": [_chunk_record(row, cap) for row in rows[first : first + PAGE]],
        "metadata": {name: getattr(shown, name) for name in METADATA},
        "text": None if text is None else text[:most_text],
        "text_length": None if text is None else len(text),
        "against": None if other is None else other.version,
        "same_count": len(pairs) - len(changed),
        "changed_count": len(changed),
        "changes": [_change(*pair) for pair in changed[:MOST_CHANGES]],
    }


def _chosen(versions: Sequence[VersionInfo], version: int | None, at: Moment) -> VersionInfo:
    if version is None:
        current = [info for info in versions if _holds(info, at)]
        return (current or list(versions))[-1]
    for info in versions:
        if info.version == version:
            return info
    raise NotFoundError(f"version {version} is not stored; there are 1 to {versions[-1].version}")


def _other(
    versions: Sequence[VersionInfo], shown: VersionInfo, against: int | None
) -> VersionInfo | None:
    if against is not None:
        return _chosen(versions, against, 0)
    before = [info for info in versions if info.version < shown.version]
    return before[-1] if before else None


def _holds(info: VersionInfo, at: Moment) -> bool:
    return in_force(info.status, info.effective_from, info.effective_to, at)


def _text(store: Store, collection: str, document: str, version: int) -> str | None:
    try:
        return store.parsed(collection, document, version).text
    except NotFoundError:
        return None


def _version_record(info: VersionInfo, at: Moment) -> dict[str, Any]:
    return {
        "version": info.version,
        "status": info.status,
        "in_force": _holds(info, at),
        "out_of_force": out_of_force_reason(
            info.status, info.effective_from, info.effective_to, at
        ),
        "effective_from": iso(info.effective_from),
        "effective_to": iso(info.effective_to),
        "review_by": iso(info.review_by),
        "edition": info.edition,
        "chunks": info.chunks,
        "tokens": info.tokens,
        "coverage": info.coverage,
        "reason": info.reason,
        "warnings": list(info.warnings),
    }


def _chunk_record(row: ChunkRow, cap: int | None) -> dict[str, Any]:
    marks = orjson.loads(row.boundaries)
    return {
        "chunk_id": row.chunk_id,
        "ordinal": row.ordinal,
        "kind": row.kind,
        "page": row.page,
        "heading_path": orjson.loads(row.heading_path),
        "header": row.header,
        "truncatable": row.truncatable,
        "block_tokens": row.block_tokens,
        "header_tokens": row.header_tokens,
        "delimiter_tokens": row.delimiter_tokens,
        "text_tokens": row.block_tokens - row.header_tokens - row.delimiter_tokens,
        "share": round(row.block_tokens / cap, 3) if cap else None,
        "superseded_by": row.superseded_by,
        "boundaries": [{"offset": o, "kind": k, "block_tokens": t} for o, k, t in marks],
        "pieces": _pieces(row.text, marks),
    }


def _pieces(text: str, marks: Sequence[tuple[int, str, int]]) -> list[dict[str, Any]]:
    """The text between boundaries, each with the boundary that ends it."""
    found, start = [], 0
    for offset, kind, tokens in sorted(marks):
        found.append({"text": text[start:offset], "kind": kind, "block_tokens": tokens})
        start = offset
    return [*found, {"text": text[start:], "kind": None, "block_tokens": None}]


Pair = tuple[ChunkRow | None, ChunkRow | None]
"""A chunk and its successor; None where there is none."""


def succession(old: Sequence[ChunkRow], new: Sequence[ChunkRow]) -> list[Pair]:
    """Which chunk succeeded which: a pair for each old chunk, then for each one added."""
    by_id = {row.chunk_id: row for row in new}
    by_hash = {row.content_hash: row for row in new}
    found: list[Pair] = [
        (row, by_id.get(row.superseded_by or "") or by_hash.get(row.content_hash)) for row in old
    ]
    seen = {after.chunk_id for _, after in found if after is not None}
    return [*found, *((None, row) for row in new if row.chunk_id not in seen)]


def _same(before: ChunkRow | None, after: ChunkRow | None) -> bool:
    return before is not None and after is not None and before.text == after.text


def _change(before: ChunkRow | None, after: ChunkRow | None) -> dict[str, Any]:
    return {
        "what": "added" if before is None else "gone" if after is None else "changed",
        "before": None if before is None else before.ordinal,
        "after": None if after is None else after.ordinal,
        "before_tokens": None if before is None else before.block_tokens,
        "after_tokens": None if after is None else after.block_tokens,
        "words": word_changes(before.text if before else "", after.text if after else ""),
    }


def word_changes(before: str, after: str) -> list[dict[str, str]]:
    """Runs of words with what became of them: "equal", "delete" or "insert"."""
    old, new = before.split(), after.split()
    if max(len(old), len(new)) > MOST_WORDS:
        runs = [("delete", old), ("insert", new)]
    else:
        runs = []
        matcher = SequenceMatcher(a=old, b=new, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            runs += [("equal", old[a:b])] if tag == "equal" else [
                ("delete", old[a:b]), ("insert", new[c:d])
            ]  # fmt: skip
    return [{"tag": tag, "text": " ".join(words)} for tag, words in runs if words]
