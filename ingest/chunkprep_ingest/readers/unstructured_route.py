"""The way to unstructured's partitioners, set up to stay offline and quiet.

Imported only when a file of one of its formats is read: the import takes seconds. Its text
heuristics get spaCy's blank sentencizer instead of a downloaded model; headings come from styles
and tags, never from guesses.
"""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers.html import find_blocks
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import wants_memory
from chunkprep_ingest.readers.writing import Found

if TYPE_CHECKING:
    from unstructured.documents.elements import Element

_QUIET = {
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "true",
    "UNSTRUCTURED_DISABLE_NOTICE": "1",
}
_MARKER = re.compile(r"(\(?(?:\d+(?:\.\d+)*|[A-Za-z]|[ivxlcdmIVXLCDM]{1,6})[.)])\s+(?=\S)")
_NO_LANGUAGES = ("",)


@cache
def fingerprint(kind: str, rules: str) -> str:
    """Moves with our rules for a format and with unstructured's version."""
    return f"{kind}/{rules}+unstructured-{version('unstructured')}"


def partition(kind: str, data: bytes, name: str, **settings: Any) -> list[Element]:
    """What unstructured finds in a file of this kind ("docx", "pptx", "xlsx", "email", …).

    Raises ReadError: corrupt where the partitioner fails.
    """
    partitioner = _partitioner(kind)
    try:
        found = partitioner(file=io.BytesIO(data), languages=list(_NO_LANGUAGES), **settings)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        if wants_memory(error):
            raise MemoryError from error
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadError("corrupt", f"{name} cannot be read: {reason}") from error
    return list(found)


def table(element: Element, page: int | None) -> Iterator[Found]:
    """A table element as a Markdown table; its plain text where its cells are not known."""
    markup = element.metadata.text_as_html
    if not markup:
        yield Found("paragraph", element.text, 0, page)
        return
    for found in find_blocks(markup, ReadOptions()).found:
        yield found._replace(page=page)


def list_item(element: Element, page: int | None) -> Found:
    """A list item, with the label that the file gives it as its marker."""
    depth = int(element.metadata.category_depth or 0)
    label = _MARKER.match(element.text)
    if label:
        return Found("list_item", element.text[label.end() :], depth, page, label.group(1))
    return Found("list_item", element.text, depth, page)


def without_leaps(found: Iterable[Found]) -> Iterator[Found]:
    """The same, where no list item stands more than one level below the one before it."""
    last = -1
    for item in found:
        if item.kind != "list_item":
            last = -1 if item.kind == "title" else last
            yield item
            continue
        last = min(item.depth, last + 1)
        yield item._replace(depth=last)


@cache
def _partitioner(kind: str) -> Any:
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        tokenize = import_module("unstructured.nlp.tokenize")
        module = import_module(f"unstructured.partition.{kind}")
    except ImportError as error:
        raise ReadError(
            "unsupported_type", f"{kind} files need {error.name}", "install chunkprep[ingest]"
        ) from error
    logging.getLogger("unstructured").setLevel(logging.ERROR)
    tokenize._load_spacy_model = _blank_sentencizer  # type: ignore[attr-defined]
    return getattr(module, f"partition_{kind}")


def _blank_sentencizer() -> Any:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return pipeline
