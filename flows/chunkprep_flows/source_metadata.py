"""What front matter, a sidecar and folder rules say of a source file, put together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkprep_flows.plan import Work
from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.front_matter import split_front_matter
from chunkprep_ingest.metadata import Metadata, parse_metadata

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")


class SourceMetadata:
    """The metadata of files, by rules that are read once per folder.

    `extra` is a rules file that applies to every source (`--metadata`).
    """

    def __init__(self, extra: str | None = None) -> None:
        self.extra = None if extra is None else Path(extra)

    def of(self, work: Work, front_matter: Mapping[str, object]) -> Metadata:
        """The document's metadata. Raises MetadataError (bad_metadata)."""
        return parse_metadata(front_matter, work.document)

    def without_reading(self, work: Work, data: bytes) -> str | None:
        """The metadata as stored with a version, without parsing the document.

        None where that cannot be told: the file has to be read then.
        """
        try:
            return self.of(work, _front_matter(work.path, data)).model_dump_json()
        except ReadError:
            return None


def _front_matter(path: str, data: bytes) -> Mapping[str, object]:
    if not path.lower().endswith(_MARKDOWN) or not data.lstrip(b"\xef\xbb\xbf").startswith(
        (b"---", b"+++")
    ):
        return {}
    return split_front_matter(decode(data, path).text).values
