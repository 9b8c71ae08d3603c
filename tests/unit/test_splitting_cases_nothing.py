"""cases/splitting.md, "Special tokens, control characters, nothing"."""

from __future__ import annotations

import base64
import random

import pytest
from tests.support.splitting import ENCODINGS, cut, parse, profile

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.ids import bytes_hash, document_key
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.tokens import tiktoken_counter

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)

SPECIAL = ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|im_start|>"]


def prepared(source: str, encoding: str, document: str, metadata: Metadata) -> PreparedVersion:
    counter: RunningCounter = tiktoken_counter(encoding)
    return prepare_version(
        parse(source, document),
        document=document_key(document),
        uri=f"file:{document}",
        data_hash=bytes_hash(source.encode()),
        metadata=metadata,
        policy=Policy(cap=64),
        profile=profile(encoding),
        counter=counter,
    )


@pytest.mark.parametrize("special", SPECIAL)
def test_special_tokens_are_ordinary_text(encoding: str, special: str) -> None:
    count = tiktoken_counter(encoding).count
    assert count(special) > 3
    made = cut(f"a {special} b", encoding, 64, title=special)
    assert made.texts == [f"a {special} b"]
    assert special in made.chunks[0].header


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_nul_goes_from_text_and_headings(encoding: str, name: str) -> None:
    source = "# He\0ading\n\nte\0xt\n\n\0\n\nAnd words enough to be no UTF-16.\0"
    made = cut(source, encoding, 64, name=name)
    assert "\0" not in made.parsed.text
    assert "text" in made.text
    assert "\0" not in "".join(chunk.header for chunk in made.chunks)
    assert all("\0" not in part for chunk in made.chunks for part in chunk.heading_path)


def test_nul_goes_from_names_and_metadata(encoding: str) -> None:
    metadata = Metadata(title="T\0itle", tags=("a\0",), source="s\0", edition="e\0")
    made = prepared("text", encoding, "fold\0er/a\0.md", metadata)
    assert made.document == "folder/a.md"
    assert made.title == "Title"
    for text in (made.title, made.rendered, made.metadata_json, made.document):
        assert "\0" not in text
        assert "\\u0000" not in text


NOTHING = ["", " ", " \t\n\u00a0\n", "\n", "\ufeff", "\0", "\r\n\r", "\u2028\u3000"]


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
@pytest.mark.parametrize("source", NOTHING)
def test_nothing_is_the_failure_empty(encoding: str, source: str, name: str) -> None:
    with pytest.raises(ReadError) as caught:
        cut(source, encoding, 64, name=name)
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("---\ntitle: x\n---\n", "a.md"),
        ("---\ntitle: x\n---", "a.md"),
        ("---\n---\n", "a.md"),
        ("+++\ntitle = 'x'\n+++\n", "a.md"),
        ("<!-- a comment -->", "a.md"),
        ("<!-- a -->\n\n<!-- b\nc -->\n", "a.md"),
        ("---\ntitle: x\n---\n\n<!-- a comment -->\n", "a.md"),
        ("<!-- a comment -->", "a.html"),
        ("<html><head><title>x</title></head><body> </body></html>", "a.html"),
    ],
)
def test_metadata_or_a_comment_alone_is_the_failure_empty(
    encoding: str, source: str, name: str
) -> None:
    with pytest.raises(ReadError) as caught:
        cut(source, encoding, 64, name=name)
    assert caught.value.code == "empty"


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_line_ends_of_every_system(encoding: str, name: str) -> None:
    assert cut("A.\r\n\r\nB.", encoding, 64, name=name).elements() == ["A.", "B."]
    assert cut("A.\r\rB.", encoding, 64, name=name).elements() == ["A.", "B."]
    assert cut("A.\rB.", encoding, 64, name=name).texts == ["A.\nB."]


def embedded(size: int) -> str:
    data = base64.b64encode(random.Random(1).randbytes(size)).decode()
    return f"data:image/png;base64,{data}"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", "Before.\n\n![p]({0})\n\nAfter.\n"),
        ("a.md", "Before. [x]: <{0}> After.\n"),
        ("a.md", "Before.\n\n<img src='{0}'>\n\nAfter.\n"),
        ("a.html", "<p>Before.</p><img src='{0}'><p>After.</p>"),
        ("a.html", "<p>Before.</p><a href='{0}'>x</a><p>{0}</p><p>After.</p>"),
        ("a.html", "<style>p {{ background: url({0}) }}</style><p>Before.</p><p>After.</p>"),
        ("a.txt", "Before. {0} After."),
    ],
)
def test_an_embedded_file_does_not_become_chunks(encoding: str, name: str, form: str) -> None:
    made = cut(form.format(embedded(1_900_000)), encoding, 128, name=name)
    assert len(made.chunks) == 1
    assert "Before." in made.texts[0]
    assert "After." in made.texts[0]
