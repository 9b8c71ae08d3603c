"""How a reading process is spoken to: frames of JSON and bytes. Nothing in them can run.

A frame is two lengths (8 bytes each, big-endian), then so many bytes of JSON and so many of data.
"""

from __future__ import annotations

import struct
from dataclasses import asdict
from functools import cache
from typing import Any, BinaryIO, NamedTuple

import orjson

from chunkprep_ingest.decode import clean
from chunkprep_ingest.errors import MetadataError, ReadError
from chunkprep_ingest.model import Element, ParsedDocument
from chunkprep_ingest.readers.options import ReadOptions

_LENGTHS = struct.Struct(">QQ")


class Frame(NamedTuple):
    """A JSON object and the bytes that go with it."""

    head: dict[str, Any]
    data: bytes = b""


def write_frame(stream: BinaryIO, frame: Frame) -> None:
    """Send one frame."""
    head = orjson.dumps(frame.head)
    stream.write(_LENGTHS.pack(len(head), len(frame.data)))
    stream.write(head)
    stream.write(frame.data)
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame | None:
    """Receive one frame; None at the end of the stream."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, data = _LENGTHS.unpack(lengths)
    content = stream.read(head + data)
    if len(content) < head + data:
        return None
    return Frame(orjson.loads(content[:head]), content[head:])


def request(name: str, data: bytes, options: ReadOptions) -> Frame:
    """Asks for a file to be read."""
    return Frame({"name": clean(name), "options": _settings(options)}, data)


@cache
def _settings(options: ReadOptions) -> dict[str, Any]:
    return asdict(options)


def answer(document: ParsedDocument) -> Frame:
    """A document as a frame: its text is the data."""
    head = {
        "elements": list(map(tuple, document.elements)),
        "reader": document.reader,
        "title": document.title,
        "metadata": document.metadata,
        "coverage": document.coverage,
        "missing": document.missing,
        "warnings": document.warnings,
    }
    return Frame(head, document.text.encode())


def failure(error: ReadError) -> Frame:
    """A failed read as a frame."""
    return Frame(
        {
            "error": error.code,
            "detail": clean(error.detail),
            "remedy": error.remedy,
            "metadata": isinstance(error, MetadataError),
        }
    )


def outcome(frame: Frame) -> ParsedDocument:
    """The document in an answer. Raises the ReadError that it holds instead."""
    head = frame.head
    if "error" in head:
        kind = MetadataError if head["metadata"] else ReadError
        raise kind(head["error"], head["detail"], head["remedy"])
    return ParsedDocument(
        text=frame.data.decode(),
        elements=tuple(map(Element._make, head["elements"])),
        reader=head["reader"],
        title=head["title"],
        metadata=head["metadata"],
        coverage=head["coverage"],
        missing=tuple(head["missing"]),
        warnings=tuple(head["warnings"]),
    )
