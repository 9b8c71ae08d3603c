from __future__ import annotations

import codecs

import pytest

from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ReadError


def failure(data: bytes, fallback: str | None = None) -> str:
    with pytest.raises(ReadError) as caught:
        decode(data, fallback)
    assert caught.value.code == "bad_encoding"
    return caught.value.detail


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides(mark: bytes, encoding: str) -> None:
    assert decode(mark + "käse 食\r\n".encode(encoding)) == ("käse 食\n", encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis"])
def test_other_encodings_need_to_be_declared(encoding: str) -> None:
    text = "食べ物" if encoding == "shift_jis" else "café"
    failure(text.encode(encoding))
    assert decode(text.encode(encoding), encoding) == (text, encoding)


def test_the_failure_says_which_byte() -> None:
    assert failure(b"a\nb\ncaf\xe9 x") == "byte 0xE9 at offset 7 (line 3) is not utf-8"


def test_a_fallback_that_does_not_fit_fails_too() -> None:
    assert "is not ascii" in failure(b"caf\xe9", "ascii")
    assert "unknown" in failure(b"caf\xe9", "no-such-encoding")


def test_utf_8_wins_over_a_declared_fallback() -> None:
    assert decode("é".encode(), "latin-1").text == "é"


def test_utf_16_without_a_mark_is_no_text() -> None:
    assert "byte-order mark" in failure("abcd食".encode("utf-16-le"))
    assert decode("abcd食".encode("utf-16-le"), "utf-16-le").text == "abcd食"


def test_a_few_nuls_go() -> None:
    assert decode(b"a title of som\x00e length").text == "a title of some length"


def test_lone_surrogates_become_replacement_characters() -> None:
    assert decode(b"a \xed\xa0\xbd b").text == "a \ufffd b"
    assert decode(codecs.BOM_UTF16_LE + b"\x3d\xd8a\x00").text == "\ufffda"
