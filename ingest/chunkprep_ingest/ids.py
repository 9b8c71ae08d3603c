"""Digests: what makes two texts, versions or chunks the same."""

from __future__ import annotations

import hashlib
import unicodedata

from chunkprep_ingest.errors import ChunkprepError

_LENGTH = 32  # hex characters of an id: 128 bits


def digest(*parts: str) -> str:
    """Hex SHA-256 of the parts, each with its length, so that no two lists collide by joining."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode()
        sha.update(b"%d:" % len(data))
        sha.update(data)
    return sha.hexdigest()


def text_hash(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


def bytes_hash(data: bytes) -> str:
    """Hex SHA-256 of a file's bytes: what "unchanged" means."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*parts: str) -> str:
    """A short digest of everything that a result depends on (16 hex characters)."""
    return digest(*parts)[:16]


def chunk_id_base(
    collection: str,
    document: str,
    content_hash: str,
    rendered: str,
    fingerprints: tuple[str, str, str],
    repeat: int,
) -> str:
    """What the chunk ids of one version share. `repeat` counts the document's earlier versions
    with identical inputs (normally 0; it tells A, B, A apart). `fingerprints` are those of
    reader, policy and profile, `rendered` the metadata that the header shows.
    """
    return digest(collection, document, content_hash, rendered, *fingerprints, str(repeat))


def chunk_id(base: str, ordinal: int) -> str:
    """The id of the chunk at `ordinal` in the version that `base` describes."""
    return hashlib.sha256(f"{base}:{ordinal}".encode()).hexdigest()[:_LENGTH]


def document_key(path: str) -> str:
    """A document's stable key: its relative POSIX path, Unicode NFC, without "./" and NULs."""
    key = unicodedata.normalize("NFC", path.replace("\x00", ""))
    while key.startswith("./"):
        key = key[2:]
    if not key.strip("/"):
        raise ChunkprepError(f"{path!r} names no document; give a path below the source folder")
    return key
