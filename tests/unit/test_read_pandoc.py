from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import ReadOptions, pandoc, read, reader_fingerprint, registry

KINDS = ("epub", "odt", "rtf", "rst", "org")
SOURCE = """# Refunds

Paid within *14* days, caf\u00e9s included.

| Fee | Due  |
|-----|------|
| 5   | soon |

## Late

- first
- second
"""


def made(kind: str, source: str = SOURCE, *more: str) -> bytes:
    """A file of this kind, written by pandoc."""
    command = [pandoc._pandoc()[0], "--from=markdown", f"--to={kind}", "--standalone", *more]
    return subprocess.run(
        [*command, "--output=-"], input=source.encode(), capture_output=True, check=True
    ).stdout


def rezipped(data: bytes, name: str, content: bytes) -> bytes:
    """The archive with one member replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            new.writestr(member, content if member == name else old.read(member))
    return out.getvalue()


def code_of(data: bytes, name: str) -> str:
    with pytest.raises(ReadError) as caught:
        read(data, name)
    return caught.value.code


@pytest.mark.parametrize("kind", KINDS)
def test_headings_tables_and_lists_are_read(kind: str) -> None:
    document = read(made(kind), f"a.{kind}")
    text = document.text
    assert text.startswith("# Refunds\n\nPaid within 14 days, caf\u00e9s included.")
    assert "| Fee | Due |\n| --- | --- |\n| 5 | soon |" in text
    assert "## Late" in text
    assert text.index("first") < text.index("second")
    assert document.title == "Refunds"
    assert (document.coverage, document.warnings) == (1.0, ())
    assert document.reader == reader_fingerprint(f"b.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_footnotes_are_read_where_they_are_referred_to_by_number(kind: str) -> None:
    text = read(made(kind, "Due soon.[^1]\n\n[^1]: Or later.\n"), f"a.{kind}").text
    assert "Due soon.[1]" in text
    assert text.endswith("1. Or later.")


def test_an_rtf_is_covered_by_the_words_that_it_shows() -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\*\generator Writer;}{\info{\title T}}"
        rb"\pard Caf\'e9{\footnote \pard A note.\par} for \u8364?5.\par{\header \pard Head\par}"
        rb"{\shp{\*\shpinst{\shptxt \pard Boxed.\par}}}"
        rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt A link}}\par}"
    )
    document = read(data, "a.rtf")
    assert "Caf\u00e9[1] for \u20ac5." in document.text
    assert (document.coverage, document.missing) == (1.0, ())


def test_the_title_that_org_keeps_apart_is_read() -> None:
    document = read(b"#+TITLE: Travel rules\n\n* Refunds\nPaid soon.\n", "a.org")
    assert document.text == "# Travel rules\n\n# Refunds\n\nPaid soon."


def test_the_language_of_code_is_kept() -> None:
    assert "```python\nx = 1\n```" in read(b".. code:: python\n\n   x = 1\n", "a.rst").text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.rst", ".. include:: {}"),
        ("a.rst", ".. csv-table::\n   :file: {}"),
        ("a.org", "#+INCLUDE: {}"),
    ],
)
def test_nothing_outside_the_file_is_read(name: str, line: str, tmp_path: object) -> None:
    secret = f"{tmp_path}/secret.txt"
    with open(secret, "w") as file:  # noqa: PTH123
        file.write("classified, words\n")
    try:
        text = read(f"Before.\n\n{line.format(secret)}\n\nAfter.\n".encode(), name).text
    except ReadError as error:
        text = str(error)
    assert "classified" not in text


def test_damaged_and_encrypted_files_have_their_code() -> None:
    odt = made("odt")
    manifest = b"<manifest><file-entry><encryption-data/></file-entry></manifest>"
    assert code_of(rezipped(odt, "META-INF/manifest.xml", manifest), "a.odt") == "needs_password"
    assert code_of(odt[: len(odt) // 2], "a.odt") == "corrupt"
    assert code_of(odt, "a.epub") == "unsupported_type"
    assert code_of(rezipped(odt, "content.xml", b"<a>"), "a.odt") == "corrupt"
    assert code_of(b"plain text", "a.rtf") == "corrupt"
    assert code_of(b"caf\xe9", "a.rst") == "bad_encoding"
    assert code_of(b" \n", "a.org") == "empty"


def test_a_fallback_encoding_is_used_and_named() -> None:
    document = read(b"caf\xe9 rules\n", "a.rst", ReadOptions(fallback_encoding="latin-1"))
    assert document.text == "caf\u00e9 rules"
    assert document.reader.endswith("+fallback-iso8859-1")


@pytest.fixture
def without_pandoc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def none(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(pandoc, "distribution", none)
    pandoc._pandoc.cache_clear()
    registry._fingerprint.cache_clear()
    yield
    pandoc._pandoc.cache_clear()
    registry._fingerprint.cache_clear()


@pytest.mark.usefixtures("without_pandoc")
@pytest.mark.parametrize("kind", KINDS)
def test_without_the_extra_the_failure_names_it(kind: str) -> None:
    with pytest.raises(ReadError) as caught:
        reader_fingerprint(f"a.{kind}")
    assert caught.value.code == "unsupported_type"
    assert "chunkprep[formats]" in caught.value.remedy
