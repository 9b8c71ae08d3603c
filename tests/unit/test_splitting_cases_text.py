"""cases/splitting.md, "Text lost, repeated or changed": what goes in comes out, once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.support.splitting import ENCODINGS, body_cap, cut

from chunkprep_ingest.ids import chunk_id

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize("cap", [16, 20, 24, 32])
def test_every_body_is_a_substring_of_the_source(encoding: str, cap: int, name: str) -> None:
    source = (
        "Overview\nThis module handles ingestion of files, and splits them.\n\n"
        "Details\nIt splits at paragraphs first. Then it counts, and keeps the counts.\n"
    )
    made = cut(source, encoding, cap, name=name)
    assert len(made.chunks) > 1
    assert all(text in source for text in made.texts)
    assert all(source[chunk.start : chunk.end] == chunk.text for chunk in made.chunks)


def test_a_last_heading_without_a_body_stays(encoding: str) -> None:
    assert cut("# A\nbody\n\n## B\n", encoding, 64).texts == ["# A\nbody\n\n## B"]
    long = "# A\n" + "body " * 200 + "\n\n## B\n"
    assert cut(long, encoding, 64).texts[-1].endswith("## B")


def test_headings_without_bodies_make_one_chunk(encoding: str) -> None:
    assert cut("# A\n\n## B\n", encoding, 64).texts == ["# A\n\n## B"]
    many = "# A\n## B\n### C\n## D\n# E\ntext\n# F\n"
    assert cut(many, encoding, 64).texts == [many.rstrip()]


def test_many_headings_without_bodies_all_stay(encoding: str) -> None:
    source = "\n".join(f"{'#' * (1 + n % 4)} Heading {n}" for n in range(300))
    made = cut(source, encoding, 48)
    assert "\n".join(made.texts) == source


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("## [0.68.0] - 2026-07-24\n\nAdded a thing.\n", "[0.68.0] - 2026-07-24"),
        ("## `a` *b* **c** [d](e) <f> ~~g~~\n\nx", "`a` *b* **c** [d](e) <f> ~~g~~"),
    ],
)
def test_a_heading_with_inline_runs_is_whole(encoding: str, source: str, name: str) -> None:
    made = cut(source, encoding, 64)
    assert made.kinds == ["title", "paragraph"]
    assert made.chunks[0].heading_path == (name,)
    assert made.chunks[0].text == source.rstrip()


def test_an_html_heading_with_inline_children_is_whole(encoding: str) -> None:
    source = "<h2><a href='#x'>[0.68.0]</a> - <time>2026-07-24</time></h2><p>Added.</p>"
    made = cut(source, encoding, 64, name="a.html")
    assert made.chunks[0].heading_path == ("[0.68.0] - 2026-07-24",)


def test_text_after_an_inline_child_stays(encoding: str) -> None:
    cell = "<td><b>NOTICE</b>: do not open<br/>second line</td>"
    for source in (f"<table><tr>{cell}<td>x</td></tr></table>", f"<table><tr>{cell}</tr></table>"):
        text = " ".join(cut(source, encoding, 64, name="a.html").text.split())
        assert "NOTICE: do not open second line" in text


CODE = "```py\ndef f():\n\tx = 1\u00a0# no-break\n\n\n    if x:\n\t\treturn  [ 1,   2 ]\n\n```"


def test_code_stays_as_it_is_written(encoding: str) -> None:
    made = cut(f"Before.\n\n{CODE}\n\nAfter.\n", encoding, 128)
    assert made.elements("code") == [CODE]
    assert CODE in made.text


def test_code_in_parts_stays_as_it_is_written(encoding: str) -> None:
    lines = [f"{' ' * (n % 9)}\tx{n}\u00a0=  [{n},   {n}]{chr(10) * (n % 3)}" for n in range(200)]
    made = cut("```py\n" + "\n".join(lines) + "\n```", encoding, 64)
    assert len(made.chunks) > 10
    for chunk in made.chunks:
        assert chunk.text.startswith("```py\n")
        assert chunk.text.endswith("\n```")


def test_code_from_html_keeps_its_white_space(encoding: str) -> None:
    code = "a\n\tb\u00a0c\n\n\n   d"
    made = cut(f"<p>x</p><pre><code>{code}</code></pre>", encoding, 64, name="a.html")
    assert code in made.text


@pytest.mark.parametrize(
    "source",
    [
        "| a | b |\n|---|---|\n| ![p](x.png) | y |",
        "| a | b |\n|---|---|\n| ![](x.png) | |",
    ],
)
def test_a_cell_that_holds_a_picture_stays(encoding: str, source: str) -> None:
    made = cut(source, encoding, 64)
    assert made.kinds == ["table"]
    assert made.texts == [source]


def test_a_table_inside_a_fence_is_code(encoding: str) -> None:
    source = "~~~\n| a | b |\n|---|---|\n| 1 | 2 |\n~~~"
    made = cut(source, encoding, 64)
    assert made.kinds == ["code"]
    assert [chunk.kind for chunk in made.chunks] == ["code"]


def test_a_four_backtick_fence_holds_three_backtick_ones(encoding: str) -> None:
    inner = "\n\n".join(f"```sh\nrun {n}\n```" for n in range(30))
    made = cut(f"````md\n{inner}\n````", encoding, 64)
    assert made.kinds == ["code"]
    assert all(t.startswith("````md\n") and t.endswith("\n````") for t in made.texts)


def test_a_table_of_a_header_alone_stays(encoding: str) -> None:
    for source in ("| a | b |\n|---|---|", "text\n\n| a | b |\n|---|---|\n\ntext"):
        assert "".join(cut(source, encoding, 64).texts) == source
    html = cut("<table><tr><th>only</th><th>header</th></tr></table>", encoding, 64, name="a.html")
    assert "only" in html.text
    assert "header" in html.text


def test_a_cell_after_a_nested_table_stays(encoding: str) -> None:
    nested = "<td>0<table><tr><td>inner</td></tr></table></td>"
    source = f"<table><tr>{nested}<td>outer</td></tr></table>"
    text = cut(source, encoding, 64, name="a.html").text
    assert [text.count(word) for word in ("0", "inner", "outer")] == [1, 1, 1]


def test_two_identical_rows_both_stay(encoding: str) -> None:
    source = "| a | b |\n|---|---|\n| same | row |\n| same | row |"
    assert cut(source, encoding, 64).text.count("| same | row |") == 2


def test_two_identical_paragraphs_both_stay_under_two_ids(encoding: str) -> None:
    paragraph = "one two three four five six seven eight nine ten"
    made = cut(f"{paragraph}\n\n{paragraph}", encoding, body_cap(encoding, 14))
    assert made.texts == [paragraph, paragraph]
    assert len({chunk_id("base", chunk.ordinal) for chunk in made.chunks}) == 2


def test_equal_words_have_their_own_offsets(encoding: str) -> None:
    made = cut(" ".join(["chunk"] * 100), encoding, 16)
    expected = 0
    for chunk in made.chunks:
        assert chunk.start == expected
        expected += len(chunk.text) + 1
    assert len(made.chunks) > 8


PROGRAM = """
import sys
from chunkprep_ingest.ids import bytes_hash, chunk_id, chunk_id_base
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.readers import read
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter
counter = tiktoken_counter(sys.argv[1])
data = ("# A\\n\\n" + "Some words, and more of them. " * 60).encode()
made = prepare_version(
    read(data, "a.md"), document="a.md", uri="file:a.md", data_hash=bytes_hash(data),
    metadata=Metadata(tags=("b", "a", "c")), policy=Policy(cap=64),
    profile=make_profile(counter, TEMPLATES["markdown"]), counter=counter,
)
prints = made.fingerprints
base = chunk_id_base(
    "default", "a.md", made.content_hash, made.rendered,
    (prints.reader, prints.policy, prints.profile), 0,
)
for chunk in made.chunks:
    print(chunk_id(base, chunk.ordinal), chunk.content_hash, chunk.signature.hex())
"""


def test_ids_do_not_depend_on_the_hash_seed(encoding: str) -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, encoding],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 3
