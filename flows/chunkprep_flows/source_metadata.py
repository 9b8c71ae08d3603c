"""What front matter, sidecars and folder rules say of a source file, put together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkprep_flows.plan import Work
from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.front_matter import split_front_matter
from chunkprep_ingest.metadata import Metadata, near_field
from chunkprep_ingest.readers import reader_name
from chunkprep_ingest.rules import RuleBook

_FENCES = (b"---", b"+++")


def likely_slips(front_matter: Mapping[str, object]) -> tuple[str, ...]:
    """A warning for each key that is almost one of ours; others belong to the user."""
    slips = ((key, near_field(key)) for key in sorted(front_matter))
    return tuple(
        f"front matter: {key!r} is no field of chunkprep; did you mean {field!r}?"
        for key, field in slips
        if field is not None
    )


class SourceMetadata:
    """The metadata of files; each folder's rules are read once.

    `extra` is a rules file that applies to every source (`--metadata`).
    """

    def __init__(self, extra: str | None = None, fallback_encoding: str | None = None) -> None:
        self._extra = None if extra is None else Path(extra)
        self._fallback_encoding = fallback_encoding
        self._books: dict[str, RuleBook] = {}

    def of(self, work: Work, front_matter: Mapping[str, object]) -> Metadata:
        """The document's metadata. Raises MetadataError (bad_metadata)."""
        return self._book(work).metadata(work.path, front_matter)

    def digest(self, work: Work) -> str:
        """Moves with every byte that is written beside the document."""
        return self._book(work).digest(Path(work.path))

    def _book(self, work: Work) -> RuleBook:
        book = self._books.get(work.root)
        if book is None:
            book = self._books[work.root] = RuleBook(Path(work.root), self._extra)
        return book

    def without_reading(self, work: Work, data: bytes) -> str | None:
        """The metadata as it is stored with a version, without parsing the document.

        None where that cannot be told: the file has to be read then.
        """
        try:
            return self.of(work, self._front_matter(work, data)).model_dump_json()
        except ReadError:
            return None

    def _front_matter(self, work: Work, data: bytes) -> Mapping[str, object]:
        """Only Markdown has front matter, and only where its bytes begin like it."""
        starts = data.lstrip(b"\xef\xbb\xbf").startswith(_FENCES)
        if not starts or reader_name(work.document) != "markdown":
            return {}
        return split_front_matter(decode(data, self._fallback_encoding).text).values
