"""From a file's bytes to a ParsedDocument: one text, and the elements in it."""

from chunkprep_ingest.readers.fallback import reads_alike
from chunkprep_ingest.readers.options import ReadOptions, check_encoding
from chunkprep_ingest.readers.registry import (
    SUPPORTED,
    is_supported,
    read,
    reader_fingerprint,
    reader_name,
)

__all__ = [
    "SUPPORTED",
    "ReadOptions",
    "check_encoding",
    "is_supported",
    "read",
    "reader_fingerprint",
    "reader_name",
    "reads_alike",
]
