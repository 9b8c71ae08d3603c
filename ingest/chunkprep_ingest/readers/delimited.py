"""CSV and TSV: one table, cells as written.

Read directly: unstructured sniffs a space as the separator of one-column files, and its way
through pandas and HTML takes two seconds per megabyte.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.tables import markdown_table
from chunkprep_ingest.readers.writing import Found, TextWriter

_VERSION = "1"
_DELIMITERS = ",;\t|"
_SAMPLE = 50  # records that decide which delimiter a file uses


def fingerprint() -> str:
    """Moves with our reading rules."""
    return f"csv/{_VERSION}"


def read_csv(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The table in `data`; the delimiter is the one that cuts most records alike.

    Raises ReadError (bad_encoding, empty).
    """
    text = decode(data, options.fallback_encoding).text
    return _document(text, find_delimiter(text), name)


def read_tsv(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The table in `data`; tabs separate cells. Raises ReadError (bad_encoding, empty)."""
    return _document(decode(data, options.fallback_encoding).text, "\t", name)


def find_delimiter(text: str) -> str:
    """Of "," ";" tab and "|" the one that cuts most of the first records into as many cells."""
    return max(_DELIMITERS, key=lambda delimiter: _agreement(text, delimiter))


def _agreement(text: str, delimiter: str) -> tuple[int, int]:
    records = islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _SAMPLE)
    try:
        widths = Counter(len(record) for record in records if len(record) > 1)
    except csv.Error:
        return 0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return count, width


def _document(text: str, delimiter: str, name: str) -> ParsedDocument:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise ReadError("corrupt", f"{name} is no table: {error}") from error
    writer = TextWriter()
    writer.add(Found("table", markdown_table(rows)))
    return covered(writer.document(name, fingerprint()), text)
