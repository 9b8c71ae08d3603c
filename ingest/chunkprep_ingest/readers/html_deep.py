"""HTML nested deeper than lxml goes, read with the standard library's parser."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chunkprep_ingest.readers.html_blocks import HtmlBlocks

_VOID_TAGS = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_TAGS.split())


class _Feed(HTMLParser):
    def __init__(self, blocks: HtmlBlocks) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks = blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._blocks.start(tag, {name: value or "" for name, value in attrs})
        if tag in _VOID:
            self._blocks.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self._blocks.end(tag)

    def handle_data(self, data: str) -> None:
        self._blocks.data(data)


def feed_deep(text: str, blocks: HtmlBlocks) -> None:
    """Feed the tags and text of an HTML text to `blocks`, whatever their depth."""
    feed = _Feed(blocks)
    feed.feed(text)
    feed.close()
