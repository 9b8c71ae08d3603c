from __future__ import annotations

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import ReadOptions, read


def parse(source: str | bytes, options: ReadOptions | None = None) -> ParsedDocument:
    return read(source.encode() if isinstance(source, str) else source, "a.html", options)


def shape(source: str | bytes) -> list[tuple[str, int, str]]:
    document = parse(source)
    assert document.coverage == 1.0
    return [(e.kind, e.depth, document.text[e.start : e.end]) for e in document.elements]


def texts(source: str) -> list[str]:
    return [text for _, _, text in shape(source)]


def test_headings_are_written_as_markdown() -> None:
    assert shape("<h1>A</h1><p>x</p><h2>B</h2><p>y</p>") == [
        ("title", 1, "# A"),
        ("paragraph", 0, "x"),
        ("title", 2, "## B"),
        ("paragraph", 0, "y"),
    ]


def test_the_title_is_the_title_tag_or_the_first_heading() -> None:
    assert parse("<head><title> The\nTitle </title></head><h1>A</h1>").title == "The Title"
    assert parse("<h2>B</h2><h1>A</h1>").title == "A"


def test_anchor_signs_in_headings_go() -> None:
    assert texts('<h2>Open <a class="mark" href="#open">#</a></h2><p>x') == ["## Open", "x"]


def test_text_anywhere_in_the_page_is_read() -> None:
    source = """<nav>menu</nav><main><p>main</p></main><aside>aside</aside>
        <details><summary>sum</summary>detail</details>
        <form><label>label</label> <button>go</button><textarea>area</textarea></form>
        <figure><img alt="picture"><figcaption>caption</figcaption></figure>
        <dl><dt>term<dd>meaning</dl><x-card>one</x-card><x-card>two</x-card><footer>end</footer>"""
    assert " ".join(texts(source)) == (
        "menu main aside sum detail label go area picture caption term meaning one two end"
    )


def test_text_after_an_inline_child_stays() -> None:
    assert texts("<td><b>NOTICE</b>: do not open<br/>second line</td>") == [
        "NOTICE: do not open\nsecond line"
    ]


def test_what_nobody_sees_is_left_out() -> None:
    source = "<style>a{}</style><script>var x</script><!-- c --><template>t</template><p>x"
    assert texts(source) == ["x"]


def test_lists_with_markers_numbers_and_nesting() -> None:
    source = "<ul><li>a<ul><li>b</ul><li>c<p>more</ul><ol start=3><li>x<li value=7>y</ol>"
    assert shape(source) == [
        ("list_item", 0, "- a"),
        ("list_item", 1, "  - b"),
        ("list_item", 0, "- c"),
        ("paragraph", 0, "more"),
        ("list_item", 0, "3. x"),
        ("list_item", 0, "7. y"),
    ]


def test_consecutive_items_stand_on_consecutive_lines() -> None:
    assert parse("<p>p<ul><li>a<li>b</ul><p>q").text == "p\n\n- a\n- b\n\nq"


def test_code_keeps_line_breaks_tabs_and_language() -> None:
    source = '<pre><code class="language-js">if (a &lt; b) {\n\tgo();\n\n}\n</code></pre>'
    assert shape(source) == [("code", 0, "```js\nif (a < b) {\n\tgo();\n\n}\n```")]


def test_a_fence_is_longer_than_those_in_the_code() -> None:
    assert texts("<pre>```\nx\n```</pre>") == ["````\n```\nx\n```\n````"]


def test_tables_repeat_merged_cells_and_escape_pipes() -> None:
    source = """<table><caption>Cap</caption><tr><th colspan=2>A|x<th>B
        <tr><td rowspan=2>1<td>2<td><p>3</p><p>4</p><tr><td>5<td>6</table>"""
    assert shape(source) == [
        ("paragraph", 0, "Cap"),
        ("table", 0, "| A\\|x | A\\|x | B |\n| --- | --- | --- |\n| 1 | 2 | 3 4 |\n| 1 | 5 | 6 |"),
    ]


def test_a_cell_after_a_nested_table_stays() -> None:
    source = (
        "<table><tr><td>0<table><tr><td>inner</td></tr></table></td><td>outer</td></tr></table>"
    )
    assert texts(source) == ["| 0 inner | outer |\n| --- | --- |"]


def test_a_table_that_lays_out_a_page_is_read_as_blocks() -> None:
    source = "<table><tr><td><h2>H</h2><p>p</p></td><td><ul><li>i</ul></td></tr></table>"
    assert texts(source) == ["## H", "p", "- i"]


def test_a_span_that_nobody_could_draw_is_not_believed() -> None:
    source = "<table><tr><td colspan=999999999>a<td>b<tr><td>c<td>d</table>"
    assert texts(source) == ["| a | b |\n| --- | --- |\n| c | d |"]


def test_deleted_text_does_not_read_like_text_in_force() -> None:
    assert texts("<p>Pay <del>30</del> 40 with <code>pay()</code>") == [
        "Pay ~~30~~ 40 with `pay()`"
    ]


def test_quotes_are_marked() -> None:
    assert texts("<blockquote><p>a<br>b<p>c</blockquote>d") == ["> a\n> b", "> c", "d"]


@pytest.mark.parametrize("depth", [300, 3_000, 30_000])
def test_text_below_any_number_of_tags_is_read(depth: int) -> None:
    source = "<div>" * depth + "deep" + "</div>" * depth + "<h1>after</h1>"
    assert texts(source) == ["deep", "# after"]


def test_navigation_is_left_out_and_counted_on_request() -> None:
    document = parse("<nav>one two</nav><p>x", ReadOptions(keep_boilerplate=False))
    assert document.text == "x"
    assert document.coverage == 1.0
    assert document.warnings == ("boilerplate: 2 words of navigation were left out",)


def test_a_declared_encoding_counts_where_utf_8_fails() -> None:
    assert parse('<meta charset="latin-1"><p>café'.encode("latin-1")).text == "café"
    assert parse('<meta charset="latin-1"><p>café'.encode()).text == "café"
    with pytest.raises(ReadError, match="bad_encoding"):
        parse("<p>café".encode("latin-1"))


def test_embedded_files_do_not_become_text() -> None:
    document = parse(f'<p>a<img src="data:image/png;base64,{"A" * 3_000_000}">b')
    assert document.text == "a b"


@pytest.mark.parametrize("source", [" ", "<html></html>", "<!-- c -->", "<script>x</script>"])
def test_a_page_without_text_is_empty(source: str) -> None:
    with pytest.raises(ReadError) as caught:
        parse(source)
    assert caught.value.code == "empty"
