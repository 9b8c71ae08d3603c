"""What a reader is told besides the bytes."""

from __future__ import annotations

from dataclasses import dataclass

from chunkprep_ingest.errors import ChunkprepError

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Settings of every reader.

    `fallback_encoding` is tried where a text file is not UTF-8. A file over `max_bytes`, or an
    archive that would expand to more than `max_expanded_bytes` or holds more than `max_members`
    files, fails as too_large before it is parsed. Without `keep_boilerplate`, navigation and
    repeated page headers and footers are left out of the text, and counted.
    """

    fallback_encoding: str | None = None
    max_bytes: int = 256 * MEBIBYTE
    max_expanded_bytes: int = 512 * MEBIBYTE
    max_members: int = 20_000
    keep_boilerplate: bool = True

    def __post_init__(self) -> None:
        """Refuse sizes that would let nothing through, and an unknown encoding."""
        if self.fallback_encoding is not None:
            check_encoding(self.fallback_encoding)
        for name in ("max_bytes", "max_expanded_bytes", "max_members"):
            if getattr(self, name) < 1:
                raise ChunkprepError(f"{name} must be at least 1, not {getattr(self, name)}")


def check_encoding(name: str) -> None:
    """Raises ChunkprepError where Python knows no text encoding of this name."""
    try:
        b"a".decode(name, "replace")
    except (LookupError, ValueError):
        raise ChunkprepError(
            f"the --fallback-encoding {name!r} is unknown; declare one that Python knows, for "
            f"example cp1252"
        ) from None
