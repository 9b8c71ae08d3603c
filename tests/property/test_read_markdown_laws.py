"""Whatever the source: elements stand in order, do not overlap, and leave out white space only."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import read
from chunkprep_ingest.readers.markdown import parse

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
