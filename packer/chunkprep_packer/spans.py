"""Did the answer reach the context? Labelled spans, looked for in what was packed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import Boundary, ChunkRow


class Label(NamedTuple):
    """A quoted span of a document that answers a logged request."""

    request_id: str
    document: str
    quote: str


class SpanScore(NamedTuple):
    """Of `spans` labelled spans, those present, and the share (0 to 1) that they are."""

    spans: int
    present: int

    @property
    def share(self) -> float:
        """Present by labelled; 0 where nothing is labelled."""
        return round(self.present / self.spans, 3) if self.spans else 0.0


def read_labels(lines: Iterable[str | bytes]) -> list[Label]:
    """Labels from JSON lines: `{"request": …, "document": …, "quote": …}`.

    Raises RequestError naming the line.
    """
    labels: list[Label] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = orjson.loads(line)
            label = Label(entry["request"], entry["document"], entry["quote"])
        except (ValueError, KeyError, TypeError) as error:
            raise RequestError(
                f'labels, line {number}: {error}; write {{"request", "document", "quote"}}',
                "labels",
            ) from error
        labels.append(label)
    return labels


def score_spans(
    labels: Iterable[Label], contexts: Mapping[str, Sequence[tuple[ChunkRow, Boundary | None]]]
) -> SpanScore:
    """How many labelled spans stand in the packed blocks of their request, by request id.

    White space and character width do not count. A span may run over neighbouring chunks of its
    document where both are packed. Labels of requests that are not in `contexts` are left out.
    """
    texts = {name: _by_document(blocks) for name, blocks in contexts.items()}
    spans = present = 0
    for label in labels:
        if label.request_id in texts:
            spans += 1
            quote = _plain(label.quote)
            present += any(quote in run for run in texts[label.request_id][label.document])
    return SpanScore(spans, present)


def _by_document(
    blocks: Iterable[tuple[ChunkRow, Boundary | None]],
) -> defaultdict[str, list[str]]:
    """Runs of neighbouring packed chunks, as plain texts by document."""
    runs: defaultdict[str, list[str]] = defaultdict(list)
    previous: tuple[str, int, int] | None = None
    for row, cut in sorted(blocks, key=lambda block: _place(block[0])):
        document, version, ordinal = _place(row)
        text = _plain(row.text if cut is None else row.text[: cut.offset])
        if previous == (document, version, ordinal - 1):
            runs[document][-1] += text
        else:
            runs[document].append(text)
        previous = (document, version, ordinal) if cut is None else None
    return runs


def _place(row: ChunkRow) -> tuple[str, int, int]:
    return row.document, row.version, row.ordinal


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
