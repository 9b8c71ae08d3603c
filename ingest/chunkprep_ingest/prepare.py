"""A document as read becomes a version ready to store: titled, split, priced, signed."""

from __future__ import annotations

import json
from dataclasses import fields
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.ids import digest
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Chunk, Fingerprints, ParsedDocument, PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile
from chunkprep_ingest.similarity import signatures
from chunkprep_ingest.split import HEADER_WARNING, split_document


def prepare_version(
    parsed: ParsedDocument,
    *,
    document: str,
    uri: str,
    data_hash: str,
    metadata: Metadata,
    policy: Policy,
    profile: Profile,
    counter: RunningCounter,
    etag: str | None = None,
    warnings: tuple[str, ...] = (),
) -> PreparedVersion:
    """All that the store writes for one document. `data_hash` is of the file's bytes, `warnings`
    are said besides those of reading and splitting.

    Raises ReadError with the code `empty` where there is no text, `indivisible` where one
    grapheme cluster does not fit a block.
    """
    title, date = document_title(metadata, parsed, document), document_date(metadata)
    chunks, told = split_document(parsed, title, policy, profile, counter, date)
    if not chunks:
        raise ReadError("empty", f"{document}: no text was found")
    rendered = rendered_metadata(title, date if "date" in policy.header_fields else None)
    return PreparedVersion(
        document=document,
        uri=uri,
        title=title,
        bytes_hash=data_hash,
        content_hash=content_hash(parsed.text, title),
        rendered=rendered,
        metadata_json=metadata.model_dump_json(),
        fingerprints=Fingerprints(parsed.reader, policy.fingerprint, profile.fingerprint),
        parsed=parsed,
        chunks=signed(chunks),
        etag=etag,
        warnings=_of_reader(parsed.warnings) + told + warnings,
    )


def _of_reader(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """A stored document's warnings without those of the splitting that is done again."""
    return tuple(w for w in warnings if not w.startswith(HEADER_WARNING))


def document_title(metadata: Metadata, parsed: ParsedDocument, document: str) -> str:
    """The title that headers show: the metadata's, else the document's own, else the file name."""
    return metadata.title or parsed.title or PurePosixPath(document).stem


def document_date(metadata: Metadata) -> str | None:
    """The day (ISO 8601, UTC) that headers show: the one that the version is valid from."""
    moment = iso(metadata.valid_from)
    return None if moment is None else moment[: len("2026-03-01")]


def rendered_metadata(title: str, date: str | None) -> str:
    """The metadata that headers show, as stable JSON. `date` is None where they show none."""
    shown = {"title": title} if date is None else {"title": title, "date": date}
    return json.dumps(shown, ensure_ascii=False, sort_keys=True)


def content_hash(text: str, title: str) -> str:
    """What a version's content is, whatever the policy shows of it: text and title (SHA-256)."""
    return digest(text, rendered_metadata(title, None))


def signed(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """The chunks with their near-duplicate signatures."""
    made = signatures([chunk.text for chunk in chunks])
    return tuple(map(_sign, chunks, made))


def _sign(chunk: Chunk, signature: bytes) -> Chunk:
    values: tuple[Any, ...] = (*_unsigned(chunk), signature)
    return Chunk(*values)


_unsigned = attrgetter(*[field.name for field in fields(Chunk)][:-1])
"""All of a chunk but its signature, in order: three times as fast as `replace`."""
