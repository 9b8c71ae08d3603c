"""Checks on stored texts and prices, version by version: laws 1, 2, 3 and 5."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from chunkprep_ingest.model import BOUNDARY_KINDS, Substitution
from chunkprep_ingest.template import restore
from chunkprep_store.audit.findings import Finding, finding
from chunkprep_store.audit.lists import UnreadableError, listed, parsed


class StoredChunk(NamedTuple):
    """A chunk row as far as these checks read it; JSON texts unparsed."""

    version_id: int
    row: int
    chunk_id: str
    ordinal: int
    text: str
    header: str
    block_tokens: int
    boundaries: str
    profile: str
    span_start: int
    span_end: int
    additions: str
    substitutions: str
    rendering: str


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version with all that is stored of its content. `cap` is None where the policy is not
    known, `text` where the elements are gone, or cannot be read (`trouble` says so).
    """

    document: str
    version: int
    expected_chunks: int
    tokens: int
    cap: int | None
    text: str | None
    chunks: tuple[StoredChunk, ...]
    trouble: str = ""

    def finding(self, check: str, message: str, chunk: StoredChunk | None = None) -> Finding:
        """An error found in this version."""
        chunk_id = chunk.chunk_id if chunk is not None else None
        return finding(check, "error", message, self.document, self.version, chunk_id)


def cap(version: StoredVersion) -> Iterator[Finding]:
    """Law 2: no block costs more than the policy's cap."""
    if version.cap is None:
        return
    for chunk in version.chunks:
        if chunk.block_tokens > version.cap:
            text = f"the block costs {chunk.block_tokens} tokens, the cap is {version.cap}"
            yield version.finding("cap", text, chunk)


def boundaries(version: StoredVersion) -> Iterator[Finding]:
    """Law 5: boundaries stand in order, inside the text, where it may be cut, and save tokens."""
    for chunk in version.chunks:
        wrong = _wrong_boundary(chunk) if chunk.boundaries != "[]" else None
        if wrong is not None:
            yield version.finding("boundaries", wrong, chunk)


def _wrong_boundary(chunk: StoredChunk) -> str | None:
    """What is wrong with the first boundary that is, or None."""
    try:
        return _misplaced(chunk, parsed("boundaries", chunk.boundaries))
    except UnreadableError as error:
        return str(error)
    except (TypeError, ValueError):  # asked of each boundary, this would cost as much as the rest
        return f"boundaries {chunk.boundaries[:60]!r} do not hold offset, kind and cost of each"


def _misplaced(chunk: StoredChunk, found: list[tuple[int, str, int]]) -> str | None:
    before = 0
    text = chunk.text
    for offset, kind, tokens in found:
        if kind not in BOUNDARY_KINDS:
            return f"boundary {offset} has the unknown kind {kind!r}"
        if not before < offset < len(text):
            return f"boundary {offset} is out of order, or outside the {len(text)} characters"
        if not may_cut(text, offset, kind):
            return f"boundary {offset} ({kind}) is inside {text[offset - 8 : offset + 8]!r}"
        if not 0 < tokens < chunk.block_tokens:
            return f"the block cut at {offset} costs {tokens}, whole it costs {chunk.block_tokens}"
        before = offset
    return None


_JOINERS = ("\u200d", "\ufe0f")


def may_cut(text: str, offset: int, kind: str) -> bool:
    """Whether a boundary of this kind may stand here: after a line break, a sentence's between
    two words; never inside a grapheme cluster.
    """
    before, after = text[offset - 1], text[offset]
    if kind != "sentence" and before != "\n":
        return False
    if before in _JOINERS or after in _JOINERS or unicodedata.category(after) in ("Mn", "Me"):
        return False
    return not (_joins(before) and _joins(after))


def _joins(char: str) -> bool:
    """A letter or digit of a script that puts spaces between words."""
    return char.isalnum() and not "\u2e80" <= char <= "\U0003ffff"


def wholeness(version: StoredVersion) -> Iterator[Finding]:
    """Law 3: the chunks, in order, give the version's text back; only white space is between."""
    numbers = [chunk.ordinal for chunk in version.chunks]
    if numbers != list(range(version.expected_chunks)):
        lost = sorted(set(range(version.expected_chunks)) - set(numbers))
        what = f"chunks {lost[:5]} are" if lost else "a chunk too many is"
        yield version.finding("wholeness", f"{what} wrong: {version.expected_chunks} were written")
        return
    if version.text is None:
        yield version.finding("wholeness", version.trouble)
        return
    end = 0
    for chunk in version.chunks:
        wrong = _unwhole(chunk, version.text, end)
        if wrong is not None:
            yield version.finding("wholeness", wrong, chunk)
        end = max(end, chunk.span_end)
    if _has_text(version.text, end, len(version.text)):
        yield version.finding("wholeness", f"the text after {end} is in no chunk")


def _unwhole(chunk: StoredChunk, document_text: str, end: int) -> str | None:
    """What is wrong with a chunk's text, or None; the chunk before it ended at `end`."""
    if not chunk.text or chunk.text.isspace():
        return "the chunk's text is blank"
    try:
        text = original(chunk)
    except UnreadableError as error:
        return str(error)
    if not _same(text, document_text[chunk.span_start : chunk.span_end], chunk):
        return f"the text is not that of the document at {chunk.span_start}"
    if chunk.span_start < end or _has_text(document_text, end, chunk.span_start):
        return f"text is lost or repeated between {end} and {chunk.span_start}"
    return None


def original(chunk: StoredChunk) -> str:
    """The chunk's text as the document has it: substitutions undone, additions taken out.

    Raises UnreadableError.
    """
    text = chunk.text
    if chunk.substitutions != "[]":
        listed_ones = listed("substitutions", chunk.substitutions, int, str)
        found = tuple(Substitution(*s) for s in listed_ones)
        if any(not 0 <= s.offset < len(text) for s in found):
            raise UnreadableError(f"substitutions {chunk.substitutions[:60]} are outside the text")
        text = restore(text, found)
    if chunk.additions != "[]":
        for offset, length in reversed(listed("additions", chunk.additions, int, int)):
            text = text[:offset] + text[offset + length :]
    return text


def _same(chunk_text: str, document_text: str, chunk: StoredChunk) -> bool:
    if chunk.rendering == "verbatim":
        return chunk_text == document_text
    return _cells(chunk_text) == _cells(document_text)


def _cells(text: str) -> str:
    """A table's words alone: rows rendered as records keep neither white space nor pipes."""
    return "".join(text.replace("\\|", "\0").replace("|", "").split()).replace("\0", "\\|")


def _has_text(text: str, start: int, end: int) -> bool:
    return start < end and bool(text[start:end].strip())


def price_sum(version: StoredVersion) -> Iterator[Finding]:
    """The part of count_drift that needs no counting: prices still add up to what was written."""
    total = sum(chunk.block_tokens for chunk in version.chunks)
    if total != version.tokens:
        text = f"block costs add up to {total}, {version.tokens} were written"
        yield version.finding("count_drift", text)


def without_price(found: Iterable[Finding], drifted: set[str | None]) -> Iterator[Finding]:
    """Leave out what only says in other words that a chunk's price is wrong."""
    for f in found:
        if not (f.check == "boundaries" and f.chunk_id in drifted and "costs" in f.message):
            yield f
