from __future__ import annotations

import pytest

from chunkprep_ingest.errors import MetadataError, ReadError
from chunkprep_ingest.headings import heading_name
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import ReadOptions, read, reader_fingerprint


def parse(source: str | bytes) -> ParsedDocument:
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    return read(data, "a.md", ReadOptions())


def shape(source: str | bytes) -> list[tuple[str, int, str]]:
    document = parse(source)
    return [(e.kind, e.depth, document.text[e.start : e.end]) for e in document.elements]


def test_headings_paragraphs_and_source_text_stay_as_written() -> None:
    assert shape("# A *b*\ntext `x`\nmore\n\n## My Section ##\n\n[l](u)\n") == [
        ("title", 1, "# A *b*"),
        ("paragraph", 0, "text `x`\nmore"),
        ("title", 2, "## My Section ##"),
        ("paragraph", 0, "[l](u)"),
    ]


def test_setext_headings() -> None:
    assert shape("Over\nview\n====\nx\n\nSub\n---\ny") == [
        ("title", 1, "Over\nview\n===="),
        ("paragraph", 0, "x"),
        ("title", 2, "Sub\n---"),
        ("paragraph", 0, "y"),
    ]


def test_hashes_in_fences_and_hashtags_are_no_headings() -> None:
    kinds = [kind for kind, _, _ in shape("# T\n\n~~~\n# not\n~~~\n\n#hashtag\n")]
    assert kinds == ["title", "code", "paragraph"]


@pytest.mark.parametrize(
    "code",
    [
        "````\n```\n# no\n```\n````",
        "```py\nx\n`````",
        "```\n~~~\nx\n\n\ty",
        "    indented\n\n    more",
        "~~~\n| a | b |\n|---|---|\n~~~",
    ],
)
def test_code_keeps_its_fences_and_indentation(code: str) -> None:
    assert shape(f"before\n\n{code}") == [("paragraph", 0, "before"), ("code", 0, code)]


def test_list_items_are_elements_with_marker_indentation_and_depth() -> None:
    assert shape("Intro\n- a\n  more\n  - b\n    - c\n- d\n\n1. one\n2. two\n") == [
        ("paragraph", 0, "Intro"),
        ("list_item", 0, "- a\n  more"),
        ("list_item", 1, "  - b"),
        ("list_item", 2, "    - c"),
        ("list_item", 0, "- d"),
        ("list_item", 0, "1. one"),
        ("list_item", 0, "2. two"),
    ]


def test_what_an_item_holds_besides_its_text_is_an_element_of_its_own() -> None:
    source = "- a\n\n  second\n\n  ```\n  x\n  ```\n  tail\n- b\n"
    assert shape(source) == [
        ("list_item", 0, "- a"),
        ("paragraph", 0, "  second"),
        ("code", 0, "  ```\n  x\n  ```"),
        ("paragraph", 0, "  tail"),
        ("list_item", 0, "- b"),
    ]


def test_a_marker_alone_on_its_line_takes_the_text_below() -> None:
    assert shape("-\n  text\n\n  more\n")[0] == ("list_item", 0, "-\n  text")


def test_a_table_is_one_element() -> None:
    table = "| a | b |\n|---|---|\n| ![p](x.png) | 2 |"
    assert shape(f"# T\n{table}\n\nafter") == [
        ("title", 1, "# T"),
        ("table", 0, table),
        ("paragraph", 0, "after"),
    ]


def test_quotes_keep_their_marks_and_their_headings_are_no_structure() -> None:
    assert shape("> # a\n>\n> b\n>\n> - c\n\nd\n") == [
        ("paragraph", 0, "> # a\n>"),
        ("paragraph", 0, "> b\n>"),
        ("list_item", 0, "> - c"),
        ("paragraph", 0, "d"),
    ]


def test_link_definitions_footnotes_rules_and_html_are_kept() -> None:
    source = "a[^1]\n\n[x]: http://x\n[y]: http://y\n\n***\n\n[^1]: note\n\n<div>\nh\n</div>\n"
    assert [text for _, _, text in shape(source)] == [
        "a[^1]",
        "[x]: http://x\n[y]: http://y",
        "***",
        "[^1]: note",
        "<div>\nh\n</div>",
    ]


def test_comment_blocks_go_and_comments_in_text_stay() -> None:
    document = parse("# A\n\n<!-- x\n\ny -->\n\nb <!-- c --> d\n<!-- z -->\n")
    assert document.text == "# A\n\nb <!-- c --> d\n"


def test_a_comment_followed_by_text_stays() -> None:
    assert shape("<!-- a --><!-- b --> text\n") == [("paragraph", 0, "<!-- a --><!-- b --> text")]


def test_many_comments_before_text_end_in_time() -> None:
    assert len(shape("<!-- a -->" * 2000 + " text\n")) == 1


def test_placeholders_in_prose_stay() -> None:
    assert parse("Use `x` with <placeholder> here.\n").text == "Use `x` with <placeholder> here.\n"


def test_front_matter_is_metadata_and_not_text() -> None:
    document = parse("---\ntitle: x\n# c: y\ntags: [a, b]\n---\n\n# H\nb")
    assert document.metadata == {"title": "x", "tags": ["a", "b"]}
    assert document.text.strip() == "# H\nb"
    assert document.title == "H"


def test_toml_front_matter() -> None:
    assert parse('+++\ntitle = "x"\n+++\nb').metadata == {"title": "x"}


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert [text for _, _, text in shape("---\n\nNote\n\n---\n\nb")] == ["---", "Note", "---", "b"]


def test_broken_front_matter_is_bad_metadata() -> None:
    with pytest.raises(MetadataError, match=r"bad_metadata: front matter is no YAML.*line"):
        parse("---\ntitle: a: b\n---\ntext")


@pytest.mark.parametrize(
    "source", ["", " \n\t\n", "\n", "---\ntitle: x\n---\n", "<!-- c -->\n", "\u00a0\n", "\x00"]
)
def test_nothing_to_read_is_empty(source: str) -> None:
    with pytest.raises(ReadError) as caught:
        parse(source)
    assert caught.value.code == "empty"


def test_byte_order_mark_line_ends_nul_and_surrogates() -> None:
    assert shape(b"\xef\xbb\xbf# Fo\x00o\r\n\r\nA.\rB \xed\xa0\xbd") == [
        ("title", 1, "# Foo"),
        ("paragraph", 0, "A.\nB \ufffd"),
    ]


def test_embedded_files_are_left_out_and_reported() -> None:
    document = parse("![x](data:image/png;base64," + "A" * 2_500_000 + ")\n")
    assert document.text == "![x](data:image/png;base64,)\n"
    assert document.warnings == ("data_uri: 2500000 characters of embedded files were left out",)


def test_the_fingerprint_is_known_without_reading() -> None:
    assert parse("x").reader == reader_fingerprint("y.MD")
    assert reader_fingerprint("a.md").startswith("markdown/1+pyromark-")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("# Foo", "Foo"),
        ("## My Section ##", "My Section"),
        ("## [0.68.0] - 2026-07-24", "[0.68.0] - 2026-07-24"),
        ("# C#", "C#"),
        ("#", ""),
        ("### ###", ""),
        ("  Over\n  view\n====", "Over view"),
        ("A - b\n-", "A - b"),
        ("no markup", "no markup"),
        ("####### seven", "####### seven"),
    ],
)
def test_heading_name(source: str, name: str) -> None:
    assert heading_name(source) == name
