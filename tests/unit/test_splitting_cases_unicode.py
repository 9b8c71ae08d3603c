"""cases/splitting.md, "Unicode": no character is broken, no grapheme cluster is cut."""

from __future__ import annotations

import pytest
import regex
from tests.support.splitting import ENCODINGS, cut

from chunkprep_ingest.errors import IndivisibleError

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FOOD = "\u98df\u3079\u7269"
RARE = "a\U0002070eb\U0002070ec"
NAMES = ["a.md", "a.txt", "a.html"]


def clusters(text: str) -> list[str]:
    return [c for c in regex.findall(r"\X", text) if not c.isspace()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cap", [16, 17, 20, 26, 30, 40])
@pytest.mark.parametrize(
    "source",
    [RARE, RARE * 40, "a\u0308", "a\u0308" * 200, FAMILY * 2, FAMILY * 20, FOOD * 50],
)
def test_characters_stay_whole(encoding: str, source: str, cap: int, name: str) -> None:
    try:
        made = cut(source, encoding, cap, name=name)
    except IndivisibleError:
        assert FAMILY in source
        assert cap < 30
        return
    assert "\ufffd" not in made.text
    assert [c for text in made.texts for c in clusters(text)] == clusters(source)


@pytest.mark.parametrize("shift", ["", "a", "ab"])
@pytest.mark.parametrize("cap", [16, 19, 32, 64])
def test_pure_cjk_shifted_by_ascii_letters(encoding: str, shift: str, cap: int) -> None:
    source = shift + "\u98df\u3079\u7269\u306f\u7f8e\u5473\u3057\u3044\u4e00\u4e8c" * 60
    made = cut(source, encoding, cap)
    assert "".join(made.texts) == source


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "source", ["a \ud83d b", "# \ud83d\n\ntext \udc00\ud83d", "\ud83d" * 100, "\ud83d\ude00 ok"]
)
def test_a_lone_surrogate_becomes_a_replacement_character(
    encoding: str, source: str, name: str
) -> None:
    made = cut(source, encoding, 32, name=name)
    assert "\ufffd" in made.text
    made.text.encode()
    assert not any("\ud800" <= char <= "\udfff" for char in made.parsed.text)


SPACED = "\u0964 \u0965 \u061f \u06d4 \u104b \u17d4 \u0589 \u1362".split()
WIDE = "\u3002 \uff01 \uff1f".split()


@pytest.mark.parametrize("end", [*SPACED, *WIDE])
def test_sentences_of_every_script_end(encoding: str, end: str) -> None:
    wide = end in WIDE
    word = "\u6587\u7ae0" if wide else "\u0915\u0916 word"
    sentence = f"{word} {word}".replace(" ", "" if wide else " ")
    sentences = [f"{sentence}{n}{end}" for n in range(40)]
    source = ("" if wide else " ").join(sentences)
    made = cut(source, encoding, 64)
    assert len(made.chunks) > 3
    assert all(text.endswith(end) for text in made.texts)
    assert [b.kind for chunk in made.chunks for b in chunk.boundaries][:1] == ["sentence"]


@pytest.mark.parametrize(
    "word",
    [
        "\u0e01\u0e32\u0e23\u0e04\u0e37\u0e19\u0e40\u0e07\u0e34\u0e19\u0e19\u0e35\u0e49",
        "\u1780\u17b6\u179a\u179f\u1784\u1794\u17d2\u179a\u17b6\u1780\u17cb\u179c\u17b7\u1789",
        "\u0e81\u0eb2\u0e99\u0e84\u0eb7\u0e99\u0ec0\u0e87\u0eb4\u0e99\u0e99\u0eb5\u0ec9",
    ],
)
@pytest.mark.parametrize("cap", [24, 64])
def test_scripts_without_sentence_ends_fall_back(encoding: str, word: str, cap: int) -> None:
    made = cut(word * 60, encoding, cap)
    assert len(made.chunks) > 3
    assert [c for text in made.texts for c in clusters(text)] == clusters(word * 60)


def test_a_cjk_paragraph_without_spaces_is_split(encoding: str) -> None:
    source = "\u8fd4\u91d1\u306e\u6761\u4ef6\u3092\u78ba\u8a8d\u3057\u3066" * 250
    made = cut(source[:3000], encoding, 256)
    assert len(made.chunks) > 5
    assert "".join(made.texts) == source[:3000]
    assert min(chunk.block_tokens for chunk in made.chunks) > 100
