"""The blocks of an HTML document, found from the stream of its tags and text.

Fed by lxml (`start`, `end`, `data`, `close` are its target interface) or, where markup is nested
deeper than lxml goes, by the standard library's parser. No recursion: depth costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chunkprep_ingest.boilerplate import left_out
from chunkprep_ingest.readers.html_tables import TableFrame
from chunkprep_ingest.readers.writing import Found

Attributes = Mapping[str, str]

_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "annotation"})
_BLOCK_TAGS = (
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frameset header hgroup hr html legend li main menu nav ol "
    "optgroup option p pre search section select summary table textarea ul video audio canvas "
    "iframe object h1 h2 h3 h4 h5 h6 caption thead tbody tfoot tr td th colgroup"
)
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MARKED = {"code": "`", "kbd": "`", "samp": "`", "tt": "`", "del": "~~", "s": "~~", "strike": "~~"}
"""Inline tags that Markdown has a sign for. Deleted text must not read like text in force."""
_CONTROLS = frozenset({"button", "input", "label"})
_ANCHOR_SIGNS = frozenset({"#", "¶", "§", "🔗"})
_BREAK = "\x00"  # a line break inside a block; decoding has removed every NUL


class HtmlBlocks:
    """Collects the blocks of one document, in order, in `found`; `title` is the `<title>`'s."""

    def __init__(self, *, keep_boilerplate: bool = True) -> None:
        self.found: list[Found] = []
        self.title: str | None = None
        self._keep_boilerplate = keep_boilerplate
        self._dropped: list[Found] = []
        self._parts: list[str] = []
        self._unseen = ""  # tag whose content nobody sees, and how often it is open
        self._unseen_open = 0
        self._title: list[str] | None = None
        self._pre: list[str] | None = None
        self._pre_open = 0
        self._language = ""
        self._heading = 0
        self._quotes = 0
        self._navs = 0
        self._lists: list[int | None] = []  # next number of each open list, None for bullets
        self._marker = ""
        self._anchor = -1
        self._frames: list[tuple[TableFrame, list[int | None], int, int]] = []

    # the parser's interface

    def start(self, tag: str, attributes: Attributes) -> None:
        """A start tag."""
        if self._unseen:
            self._unseen_open += tag == self._unseen
            if tag == "title" and self.title is None:
                self._title = []
            return
        if tag in _UNSEEN:
            self._unseen, self._unseen_open = tag, 1
        elif self._pre is not None:
            self._start_in_pre(tag, attributes)
        elif tag in _BLOCKS or "-" in tag:
            self._flush()
            opened = _OPENERS.get(tag)
            if opened:
                opened(self, tag, attributes)
        elif tag in _MARKED:
            self._parts.append(_MARKED[tag])
        elif tag == "br":
            self._parts.append(_BREAK)
        elif tag == "img":
            self._parts.append(f" {attributes.get('alt') or ''} ")
        elif tag in _CONTROLS:
            self._parts.append(" ")
        elif tag == "a" and self._heading:
            self._anchor = len(self._parts)
        elif tag == "title" and self.title is None and self._at_the_top():
            self._title = []

    def end(self, tag: str) -> None:
        """An end tag."""
        if tag == "title" and self._title is not None:
            self.title = " ".join("".join(self._title).split()) or None
            self._title = None
        if self._unseen:
            self._unseen_open -= tag == self._unseen
            if not self._unseen_open:
                self._unseen = ""
        elif self._pre is not None:
            self._pre_open -= tag == "pre"
            if not self._pre_open:
                self._close_pre()
        elif tag in _BLOCKS or "-" in tag:
            self._flush()
            closed = _CLOSERS.get(tag)
            if closed:
                closed(self, tag)
        elif tag in _MARKED:
            self._parts.append(_MARKED[tag])
        elif tag in _CONTROLS:
            self._parts.append(" ")
        elif tag == "a" and self._anchor >= 0:
            if "".join(self._parts[self._anchor :]).strip() in _ANCHOR_SIGNS:
                del self._parts[self._anchor :]
            self._anchor = -1

    def data(self, data: str) -> None:
        """Text between tags."""
        if self._title is not None:
            self._title.append(data)
        elif self._unseen:
            return
        elif self._pre is not None:
            self._pre.append(data)
        else:
            self._parts.append(data)

    def close(self) -> HtmlBlocks:
        """The end of the document; tags that are still open are closed."""
        if self._title is not None:  # never closed: it took in the whole page
            self._parts.extend(self._title)
        if self._pre is not None:
            self._close_pre()
        self._flush()
        while self._frames:
            self._close_table("table")
        return self

    def left_out(self) -> str:
        """The text that a setting keeps out."""
        return "\n".join(found.text for found in self._dropped)

    def warnings(self) -> tuple[str, ...]:
        """How much boilerplate was left out, if any was."""
        return left_out(len(self.left_out().split()), "navigation")

    def _at_the_top(self) -> bool:
        return not self.found and not self._frames and not "".join(self._parts).strip()

    # blocks

    def _flush(self) -> None:
        if not self._parts:
            return
        text = " ".join("".join(self._parts).split())
        self._parts.clear()
        self._anchor = -1
        if _BREAK in text:
            lines = (line.strip() for line in text.split(_BREAK))
            text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self._heading:
            self._emit(Found("title", text, self._heading))
        elif self._marker:
            self._emit(Found("list_item", text, len(self._lists) - 1, None, self._marker))
            self._marker = ""
        else:
            self._emit(Found("paragraph", self._placed(text)))

    def _placed(self, text: str) -> str:
        if not self._quotes:
            return text
        return "\n".join("> " + line for line in text.split("\n"))

    def _emit(self, found: Found) -> None:
        if self._navs and not self._keep_boilerplate:
            self._dropped.append(found)
        elif self._frames:
            self._frames[-1][0].emit(found)
        else:
            self.found.append(found)

    def _open_heading(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        self._heading = _HEADINGS[tag]

    def _close_heading(self, tag: str) -> None:  # noqa: ARG002
        self._heading = 0

    def _open_quote(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        self._quotes += 1

    def _close_quote(self, tag: str) -> None:  # noqa: ARG002
        self._quotes = max(0, self._quotes - 1)

    def _open_nav(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        self._navs += 1

    def _close_nav(self, tag: str) -> None:  # noqa: ARG002
        self._navs = max(0, self._navs - 1)

    # lists

    def _open_list(self, tag: str, attributes: Attributes) -> None:
        self._marker = ""
        self._lists.append(_number(attributes.get("start"), 1) if tag == "ol" else None)

    def _close_list(self, tag: str) -> None:  # noqa: ARG002
        self._marker = ""
        if self._lists:
            self._lists.pop()

    def _open_item(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        if not self._lists:
            self._lists.append(None)
        number = self._lists[-1]
        if number is None:
            self._marker = "-"
        else:
            number = _number(attributes.get("value"), number)
            self._marker = f"{number}."
            self._lists[-1] = number + 1

    def _close_item(self, tag: str) -> None:  # noqa: ARG002
        self._marker = ""

    # code

    def _open_pre(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        self._pre, self._pre_open = [], 1
        self._language = _language(attributes)

    def _start_in_pre(self, tag: str, attributes: Attributes) -> None:
        assert self._pre is not None
        self._pre_open += tag == "pre"
        if tag == "br":
            self._pre.append("\n")
        elif tag == "code":
            self._language = self._language or _language(attributes)
            if "".join(self._pre).strip():  # a second block of code in one frame
                self._pre.append("\n")

    def _close_pre(self) -> None:
        code = "".join(self._pre or ()).replace(_BREAK, "")
        self._pre, self._pre_open = None, 0
        self._emit(Found("code", code, 0, None, self._language))

    # tables

    def _open_table(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        frame = TableFrame(layout=attributes.get("role") in ("presentation", "none"))
        self._frames.append((frame, self._lists, self._quotes, self._heading))
        self._lists, self._marker, self._quotes, self._heading = [], "", 0, 0

    def _open_row(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        if self._frames:
            self._frames[-1][0].open_row()

    def _open_cell(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002
        self._lists, self._marker, self._quotes, self._heading = [], "", 0, 0
        if self._frames:
            columns = _number(attributes.get("colspan"), 1)
            self._frames[-1][0].open_cell(columns, _number(attributes.get("rowspan"), 1))

    def _close_cell(self, tag: str) -> None:  # noqa: ARG002
        if self._frames:
            self._frames[-1][0].close_cell()

    def _close_table(self, tag: str) -> None:  # noqa: ARG002
        if not self._frames:
            return
        frame, self._lists, self._quotes, self._heading = self._frames.pop()
        self._marker = ""
        for found in frame.blocks():
            self._emit(found)


_OPENERS: dict[str, Callable[[HtmlBlocks, str, Attributes], None]] = {
    **dict.fromkeys(_HEADINGS, HtmlBlocks._open_heading),
    **dict.fromkeys(_LISTS, HtmlBlocks._open_list),
    "li": HtmlBlocks._open_item,
    "blockquote": HtmlBlocks._open_quote,
    "nav": HtmlBlocks._open_nav,
    "pre": HtmlBlocks._open_pre,
    "table": HtmlBlocks._open_table,
    "tr": HtmlBlocks._open_row,
    "td": HtmlBlocks._open_cell,
    "th": HtmlBlocks._open_cell,
}
_CLOSERS: dict[str, Callable[[HtmlBlocks, str], None]] = {
    **dict.fromkeys(_HEADINGS, HtmlBlocks._close_heading),
    **dict.fromkeys(_LISTS, HtmlBlocks._close_list),
    "li": HtmlBlocks._close_item,
    "blockquote": HtmlBlocks._close_quote,
    "nav": HtmlBlocks._close_nav,
    "table": HtmlBlocks._close_table,
    "td": HtmlBlocks._close_cell,
    "th": HtmlBlocks._close_cell,
}


def _number(text: str | None, default: int) -> int:
    """The whole number that an attribute holds, or `default`."""
    try:
        return int(text) if text else default
    except ValueError:
        return default


def _language(attributes: Attributes) -> str:
    """The programming language that a class names, as code highlighters write it."""
    for name in (attributes.get("class") or "").split():
        for prefix in ("language-", "lang-"):
            if name.startswith(prefix):
                return name.removeprefix(prefix)
    return ""
