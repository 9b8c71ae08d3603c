"""The values that every part of chunkprep hands to the next.

Frozen, without I/O. Offsets are in characters (code points) of the text they belong to, costs
are in tokens, moments are integer microseconds since 1970-01-01 UTC (`Moment`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Moment = int
"""Microseconds since 1970-01-01T00:00:00Z: compares as an integer, the same on every database."""

ElementKind = Literal["title", "paragraph", "list_item", "table", "code"]
ChunkKind = Literal["prose", "table", "code"]
BoundaryKind = Literal["heading", "paragraph", "list_item", "table_row", "code_block", "sentence"]
Rendering = Literal["verbatim", "records"]
Status = Literal["draft", "active", "superseded", "withdrawn"]

ELEMENT_KINDS: tuple[ElementKind, ...] = ("title", "paragraph", "list_item", "table", "code")
BOUNDARY_KINDS: tuple[BoundaryKind, ...] = (
    "heading",
    "paragraph",
    "list_item",
    "table_row",
    "code_block",
    "sentence",
)
"""Boundary kinds, strongest first."""

STATUSES: tuple[Status, ...] = ("draft", "active", "superseded", "withdrawn")


class Element(NamedTuple):
    """A run of the document's text with one role, in reading order.

    `text[start:end]` is the element, without the line breaks around it; indentation is part of
    it. `depth` is the heading level (1 is the highest) of a title and the nesting (0 is the
    outermost) of a list item, else 0. `page` counts from 1 where the format has pages.
    """

    kind: ElementKind
    start: int
    end: int
    depth: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a reader found: one text, and the elements as spans over it.

    Elements do not overlap, stand in order, and hold every character of `text` that is not white
    space. `title` is what the document says of itself (None where it says nothing), `metadata`
    the raw front matter. `coverage` is the share (0 to 1) of the file's own words that reached
    the text; `missing` names some that did not.
    """

    text: str
    elements: tuple[Element, ...]
    reader: str
    """Fingerprint of the reader, for example "markdown/1+pyromark-0.10.3"."""
    title: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)
    coverage: float = 1.0
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Boundary(NamedTuple):
    """A place inside a chunk where it may be cut.

    The block cut there is header + text[:offset] + marker + delimiter, and costs exactly
    `block_tokens`.
    """

    offset: int
    kind: BoundaryKind
    block_tokens: int


class Span(NamedTuple):
    """`length` characters from `offset`."""

    offset: int
    length: int


class Substitution(NamedTuple):
    """One character of a chunk's text that stands for another: it would have forged a delimiter."""

    offset: int
    original: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of elements, or a part of one, as the model will see it, priced.

    `text` is document.text[start:end] with `additions` put in (a table's header repeated, a code
    fence reopened, the names of a record's columns) and `substitutions` made. The block is
    header + text + delimiter and costs `block_tokens`.
    """

    ordinal: int
    start: int
    end: int
    text: str
    header: str
    heading_path: tuple[str, ...]
    kind: ChunkKind
    truncatable: bool
    page: int | None
    block_tokens: int
    header_tokens: int
    delimiter_tokens: int
    boundaries: tuple[Boundary, ...]
    content_hash: str
    """Hex SHA-256 of the text as the document has it: additions in, substitutions undone."""
    additions: tuple[Span, ...] = ()
    substitutions: tuple[Substitution, ...] = ()
    rendering: Rendering = "verbatim"
    """"records" where rows of a table too wide for the cap stand as "column: value" lines: the
    text is then that of the document but for additions, white space and pipes between cells."""
    signature: bytes = b""
    """MinHash signature for near duplicates, at most 128 bytes; empty for short texts."""

    @property
    def text_tokens(self) -> int:
        """Tokens of the block that are neither header nor delimiter, by definition."""
        return self.block_tokens - self.header_tokens - self.delimiter_tokens


class ChunkRow(NamedTuple):
    """One row of the store's lookup: everything that packing needs, as the database holds it.

    `boundaries` ([[offset, kind, block_tokens], ...]), `heading_path`, `access` and `tags` are
    JSON texts: the packer parses only those it looks at. Costs are those of the encoding that
    was asked for. `stored_at` is the moment the version was written; `held_from` is since when
    its text holds, where it was cut again since (else None). `version_id` is the row number of its
    version, which the pack log goes by; None for what is in no store.
    """

    chunk_id: str
    document: str
    version: int
    ordinal: int
    text: str
    header: str
    block_tokens: int
    header_tokens: int
    delimiter_tokens: int
    boundaries: str
    kind: str
    truncatable: bool
    heading_path: str
    page: int | None
    status: str
    superseded_by: str | None
    effective_from: Moment | None
    effective_to: Moment | None
    authority: int
    access: str
    source: str | None
    tags: str
    content_hash: str
    signature: bytes
    policy: str
    profile: str
    stored_at: Moment
    held_from: Moment | None = None
    version_id: int | None = None


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What a version's elements, chunks and prices depend on."""

    reader: str
    policy: str
    profile: str


@dataclass(frozen=True, slots=True)
class PreparedVersion:
    """A document read, split and priced: all that the store writes in one transaction.

    `bytes_hash` is of the file's bytes, `content_hash` of the text and the title
    (`chunkprep_ingest.prepare.content_hash`). `metadata_json` is `Metadata.model_dump_json()`.
    """

    document: str
    uri: str
    title: str
    bytes_hash: str
    content_hash: str
    rendered: str
    """The metadata that the header shows, as stable JSON: part of every chunk id."""
    metadata_json: str
    fingerprints: Fingerprints
    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    etag: str | None = None
    warnings: tuple[str, ...] = ()
    """What the reader and the splitter have to say."""
