"""cases/splitting.md, "Markup": structure is read as its format has it, and kept when split."""

from __future__ import annotations

import pytest
from tests.support.laws import own_text
from tests.support.splitting import ENCODINGS, cut

from chunkprep_ingest.headings import heading_name

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)


def names(titles: list[str]) -> list[str]:
    return [heading_name(title) for title in titles]


def test_hashes_inside_a_tilde_fence_are_no_heading(encoding: str) -> None:
    made = cut("# Title\n\n~~~\n# not a header\n~~~\n\nbody\n", encoding, 64)
    assert made.elements("title") == ["# Title"]
    assert made.kinds == ["title", "code", "paragraph"]


@pytest.mark.parametrize(
    ("fence", "code"),
    [
        ("````\n```\n# no\n```\n````", "````\n```\n# no\n```\n````"),
        ("```\n# no\n`````", "```\n# no\n`````"),
        ("```\n# no\n~~~\n# no\n```", "```\n# no\n~~~\n# no\n```"),
        ("~~~\n# no\n```\n# no\n~~~", "~~~\n# no\n```\n# no\n~~~"),
    ],
)
def test_a_fence_ends_where_its_own_fence_ends(encoding: str, fence: str, code: str) -> None:
    made = cut(f"# A\n\n{fence}\n\n# B\n\nb\n", encoding, 64)
    assert made.elements("code") == [code]
    assert names(made.elements("title")) == ["A", "B"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_an_unclosed_fence_reaches_to_the_end(encoding: str, fence: str) -> None:
    source = f"# A\n\n{fence}py\n# no\n" + "\n".join(f"x{n} = {n}" for n in range(100))
    made = cut(source, encoding, 64)
    assert made.kinds == ["title", "code"]
    assert len(made.chunks) > 3


@pytest.mark.parametrize(
    ("opening", "closing"), [("````md", "````"), ("```md", "`````"), ("~~~md", "~~~~")]
)
def test_a_fence_in_parts_is_closed_and_opened_again(
    encoding: str, opening: str, closing: str
) -> None:
    lines = "\n".join(f"line {n} of the code" for n in range(120))
    made = cut(f"{opening}\n{lines}\n{closing}", encoding, 64)
    mark = opening[:-2]
    assert all(text.startswith(f"{opening}\n") for text in made.texts)
    assert all(text.rsplit("\n", 1)[1] in (mark, closing) for text in made.texts)


def test_front_matter_is_neither_text_nor_heading(encoding: str) -> None:
    made = cut("---\ntitle: x\n# c: y\n---\n\n# H\nb", encoding, 64)
    assert made.parsed.metadata == {"title": "x"}
    assert made.texts == ["# H\nb"]
    assert made.chunks[0].heading_path == ("H",)


def test_closing_hashes_are_no_part_of_the_name(encoding: str) -> None:
    made = cut("## My Section ##\ntext\n", encoding, 64)
    assert made.chunks[0].heading_path == ("My Section",)


def test_a_hashtag_is_no_heading(encoding: str) -> None:
    made = cut("#hashtag\n\n####### seven\n\n\\# escaped\n", encoding, 64)
    assert made.kinds == ["paragraph"] * 3
    assert made.chunks[0].heading_path == ()


def test_a_document_without_headings_has_chunks(encoding: str) -> None:
    made = cut("Just text.\n\nAnd more.\n", encoding, 64)
    assert [chunk.heading_path for chunk in made.chunks] == [()]


def test_setext_headings_make_the_path(encoding: str) -> None:
    text = "word " * 120
    made = cut(f"Over\nview\n====\n{text}\n\nSub\n---\n{text}", encoding, 64)
    assert {chunk.heading_path for chunk in made.chunks} == {
        ("Over view",),
        ("Over view", "Sub"),
    }


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_a_byte_order_mark_before_a_heading_goes(encoding: str, name: str) -> None:
    made = cut(b"\xef\xbb\xbf# Foo\n\nbar\n", encoding, 64, name=name)
    assert made.parsed.text[0] in "#F"
    if name == "a.md":
        assert made.chunks[0].heading_path == ("Foo",)


def test_html_headings_make_the_path(encoding: str) -> None:
    source = f"<h1>A</h1><p>{'x ' * 80}</p><h2>B</h2><p>{'y ' * 80}</p>"
    made = cut(source, encoding, 64, name="a.html")
    assert all(chunk.heading_path == ("A", "B") for chunk in made.chunks if "y y" in chunk.text)
    assert any("y y" in text for text in made.texts)


@pytest.mark.parametrize(
    "tag",
    "div main article details summary figure figcaption label form section aside "
    "blockquote center fieldset legend address dl dt dd span button".split(),
)
def test_text_in_any_tag_stays(encoding: str, tag: str) -> None:
    source = f"<body><main><p>first</p></main><{tag}>kept text<p>inner</p></{tag}> tail</body>"
    text = cut(source, encoding, 64, name="a.html").text
    assert all(word in text for word in ("first", "kept text", "inner", "tail"))
    assert cut(source, encoding, 64, name="a.html").parsed.coverage == 1.0


def test_a_markdown_table_with_two_header_rows(encoding: str) -> None:
    head = "| Fare | Fee |\n|---|---|\n| class | euro |\n"
    made = cut(head + "\n".join(f"| f{n} | {n} |" for n in range(60)), encoding, 64)
    assert made.kinds == ["table"]
    assert all(text.startswith("| Fare | Fee |\n|---|---|\n|") for text in made.texts)


def test_html_with_two_header_rows_stays_one_table(encoding: str) -> None:
    rows = "".join(f"<tr><td>f{n}</td><td>{n}</td></tr>" for n in range(60))
    head = "<tr><th>Fare</th><th>Fee</th></tr><tr><th>class</th><th>euro</th></tr>"
    made = cut(f"<table><thead>{head}</thead>{rows}</table>", encoding, 64, name="a.html")
    assert made.kinds == ["table"]
    assert all(text.startswith("| Fare | Fee |\n| --- | --- |\n|") for text in made.texts)
    assert "| class | euro |" in made.texts[0]


def test_parts_of_a_table_repeat_header_and_separator(encoding: str) -> None:
    rows = [f"| item {n} | costs {n} euro |" for n in range(100)]
    head = "| Item | Price |\n|:---|---:|\n"
    made = cut(head + "\n".join(rows), encoding, 96)
    assert len(made.chunks) > 3
    for chunk in made.chunks:
        assert chunk.text.startswith(head + "| item")
        assert "\n\n" not in chunk.text
        assert chunk.kind == "table"
        assert not chunk.truncatable
    assert "\n".join(map(own_text, made.chunks)) == head + "\n".join(rows)


def test_a_list_needs_no_blank_line_before_it(encoding: str) -> None:
    made = cut("Intro:\n- a\n- b\n", encoding, 64)
    assert made.kinds == ["paragraph", "list_item", "list_item"]


def test_nested_lists_with_indents_of_two(encoding: str) -> None:
    source = "- a\n  - b\n    - c\n  - d\n- e"
    made = cut(source, encoding, 64)
    assert [e.depth for e in made.parsed.elements] == [0, 1, 2, 1, 0]
    assert made.texts == [source]


def test_a_long_nested_list_is_cut_between_items(encoding: str) -> None:
    source = "\n".join(f"{'  ' * (n % 3)}- item {n} with some words" for n in range(90))
    made = cut(source, encoding, 96)
    assert "\n".join(made.texts) == source
    assert {b.kind for chunk in made.chunks for b in chunk.boundaries} == {"list_item"}


def test_placeholders_in_prose_stay(encoding: str) -> None:
    source = "Run `x` with <placeholder> and <your-name> set.\n\n<one>\n\nEnd <a b='c'>."
    assert cut(source, encoding, 64).texts == [source]
