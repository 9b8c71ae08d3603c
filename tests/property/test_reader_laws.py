"""Whatever the source: elements stand in order, do not overlap, and leave out white space only."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import SUPPORTED, read
from chunkprep_ingest.readers.markdown import parse
from chunkprep_ingest.readers.tables import markdown_table

PIECES = [
    "# ", "## a ##", "- ", "  - x", "1. ", "> ", ">", "```", "~~~", "````js", "    ", "\t", "\n",
    "\n\n", "| a | b |\n|---|---|\n| 1 | 2 |", "word", "食べ物", "👩‍👩‍👧‍👦", "é", "***", "---",
    "===", "<div>", "</div>", "<placeholder>", "[x]: y", "[^1]: n", "[^1]", "`", "\\",
    "\u00a0", "\u2028",
    "\x0c", "\x0b", "&amp;", "-", "+", "*", "\u200b", "<?x", "<![CDATA[", ":", "<!", "--",
]  # fmt: skip
sources = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)


def assert_whole(document: ParsedDocument) -> None:
    at = 0
    for element in document.elements:
        assert at <= element.start < element.end <= len(document.text)
        assert not document.text[at : element.start].strip()
        body = document.text[element.start : element.end]
        assert body.strip()
        assert body.rstrip() == body
        assert not body.startswith("\n")
        at = element.end
    assert not document.text[at:].strip()


@given(sources)
@example("-\n\n  x\n- y")
@example("> ```\n> a\n\nb")
@example("- ```\n  x\n  ```\n- b")
def test_every_visible_character_lands_in_one_element(source: str) -> None:
    source = source.replace("<!--", "")
    text, elements = parse(source)
    assert_whole(ParsedDocument(text, elements, "test"))
    assert text == source


@given(st.lists(st.sampled_from([*PIECES, "<!-- c -->", "<!--", "-->"]), max_size=30).map("".join))
def test_with_comments_too(source: str) -> None:
    text, elements = parse(source)
    assert_whole(ParsedDocument(text, elements, "test"))


@given(st.binary(max_size=200) | sources.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    for name in ("a.md", "a.txt"):
        document = read_or_refuse(data, name)
        if isinstance(document, ReadError):
            assert document.code in {"empty", "bad_encoding", "bad_metadata"}
        else:
            assert_whole(document)


def read_or_refuse(data: bytes, name: str) -> ParsedDocument | ReadError:
    try:
        return read(data, name)
    except ReadError as error:
        return error


TAGS = [
    "p", "div", "h1", "h2", "ul", "ol", "li", "table", "tr", "td", "th", "pre", "code", "b", "br",
    "a", "details", "summary", "label", "form", "blockquote", "nav", "title", "body", "x-y", "dl",
    "dd", "button", "img", "select", "option", "caption", "thead",
]  # fmt: skip
html_pieces = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from(["word ", "食べ物 ", "a&amp;b ", "\n", "| ", "```\n", " - x ", "\u00a0"]),
)


@given(st.lists(html_pieces, max_size=40).map("".join))
def test_any_html_is_read_whole_or_is_empty(source: str) -> None:
    document = read_or_refuse(source.encode(), "a.html")
    if isinstance(document, ReadError):
        assert document.code == "empty"
    else:
        assert_whole(document)
        assert document.coverage == 1.0, document.missing


@given(st.lists(st.lists(st.text(max_size=6), max_size=4), max_size=6))
def test_a_table_is_one_line_a_row_with_as_many_cells_each(rows: list[list[str]]) -> None:
    table = markdown_table(rows)
    lines = table.split("\n") if table else []
    assert len(lines) in (0, 1 + sum(any(cell.split() for cell in row) for row in rows))
    cells = {len(re.sub(r"\\\|", "", line).split("|")) for line in lines}
    assert len(cells) <= 1


@settings(deadline=None)  # the first office file imports unstructured
@given(st.binary(max_size=300), st.sampled_from(sorted(SUPPORTED)))
def test_random_bytes_under_any_suffix_are_read_or_refused_by_name(
    data: bytes, suffix: str
) -> None:
    document = read_or_refuse(data, f"a{suffix}")
    if not isinstance(document, ReadError):
        assert_whole(document)
