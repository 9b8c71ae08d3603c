"""cases/splitting.md, "Time and crashes": every input ends, and costs work in line with its size.

Work is counted, not timed: bytes given to the tokenizer, and functions called.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

import pytest
from tests.support.splitting import ENCODINGS, Work, cut, parse, work_of

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)

MOST_BYTES = 1.2
"""Bytes given to the tokenizer, as a multiple of the text's own."""
MOST_BYTES_UNBROKEN = 2.2
"""The same for text without a place to part it: each block is counted afresh there."""
MOST_CALLS = 11
"""How many times as many functions ten times the text may call."""


def token(size: int) -> str:
    return base64.urlsafe_b64encode(random.Random(size).randbytes(size)).decode()


@pytest.mark.parametrize("cap", [16, 32, 512])
@pytest.mark.parametrize(
    "source",
    [
        "x" * 10 + " " + "a" * 5000,
        "Header " + "a" * 200 + " Footer\n",
        "see https://example.org/" + "path/%20/" * 400 + "?q=1#end for more",
        "token: " + ".".join(token(n) for n in (40, 900, 32)) + " (expires)",
        "key\n" + token(6000) + "\nend",
        "a-b" * 3000,
        "\u00a0" * 3000 + "x",
        "/" * 4000,
    ],
)
def test_a_run_without_spaces_longer_than_the_cap_ends(
    encoding: str, source: str, cap: int
) -> None:
    made = cut(source, encoding, cap)
    assert "".join("".join(made.texts).split()) == "".join(source.split())


def prose(size: int) -> str:
    rng = random.Random(size)
    words = "the refund of a fare is paid within days when you ask for it in writing".split()
    text = []
    for _ in range(size // 600):
        lines = [" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(10)]
        text.append(" ".join(lines))
    return "\n\n".join(text)


def table(rows: int) -> str:
    head = "| Item | Price | Note |\n| --- | --- | --- |\n"
    return head + "\n".join(f"| item {n} | {n * 7 % 100} | note {n % 13} |" for n in range(rows))


def hard_wrapped(size: int) -> str:
    line = "some words that an old editor wrapped at the seventy-second column, so"
    return "\n".join([line] * (size // 72)) + "\n\nend\n"


SHAPES: dict[str, tuple[Callable[[int], str], int, str]] = {
    "prose": (prose, 100_000, "a.md"),
    "a table": (table, 2000, "a.md"),
    "one unbroken line as text": (lambda size: "a" * size, 200_000, "a.txt"),
    "one unbroken line as Markdown": (lambda size: "a" * size, 15_000, "a.md"),
    "unbroken CJK": (lambda size: "\u8fd4\u91d1\u306e\u6761\u4ef6" * (size // 5), 20_000, "a.md"),
    "one-word lines": (lambda n: "\n".join(f"w{k % 977}" for k in range(n)), 20_000, "a.txt"),
    "short lines": (lambda n: "\n".join(["short line"] * n), 13_000, "a.md"),
    "hard-wrapped text": (hard_wrapped, 30_000, "a.md"),
    "headings": (lambda n: "\n".join(f"# {k}\n\nx\n" for k in range(n)), 500, "a.md"),
    "list items": (lambda n: "\n".join(f"- item {k}" for k in range(n)), 2000, "a.md"),
    "a fence": (
        lambda n: "```\n" + "\n".join(f"x = {k}" for k in range(n)) + "\n```",
        2000,
        "a.md",
    ),
}
SIGNS: dict[str, Callable[[int], str]] = {
    "dots": lambda n: "a " + "." * n,
    "mixed ends": lambda n: "a " + "?!" * n + " b",
    "quotes": lambda n: 'a."' + '"' * n + " b",
    "quoted dots": lambda n: 'a"' + '."' * n + " b",
    "dashes": lambda n: "a\n" + "-" * n + "\nb",
    "slashes": lambda n: "a\n" + "/" * n + "\nb",
}
"""Runs in which the tokenizer need not split anywhere: their blocks are counted afresh."""


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_times_the_text_is_ten_times_the_work(encoding: str, shape: str) -> None:
    make, size, name = SHAPES[shape]
    small = work_of(make(size), encoding, 512, name)
    large = work_of(make(10 * size), encoding, 512, name)
    most = MOST_BYTES_UNBROKEN if "unbroken" in shape else MOST_BYTES
    for work in (small, large):
        assert work.bytes <= most * work.size + 2000
    growth = large.size / small.size / 10  # ten times the rows can be a little more text
    assert large.calls <= MOST_CALLS * growth * small.calls


@pytest.mark.parametrize("shape", SIGNS)
def test_a_run_of_signs_is_counted_a_few_times_at_most(encoding: str, shape: str) -> None:
    for size in (5000, 50_000):
        work = work_of(SIGNS[shape](size), encoding, 128, "a.txt")
        assert work.bytes <= 3.5 * work.size
        assert work.calls <= 6 * work.size
    cut(SIGNS[shape](2000), encoding, 128, name="a.txt")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_keeps_the_laws(encoding: str, shape: str) -> None:
    make, size, name = SHAPES[shape]
    made = cut(make(size // 4), encoding, 128, name=name)
    assert len(made.chunks) > 1


def test_a_megabyte_of_spaces_does_not_panic(encoding: str) -> None:
    for name in ("a.md", "a.txt", "a.html"):
        for source in (
            " " * 1_000_000 + "x",
            "x" + " " * 1_000_000 + "y",
            "x\t" * 3 + "\t" * 10**6,
        ):
            made = cut(source, encoding, 64, name=name)
            assert "".join(made.text.split()) == "".join(source.split())


@pytest.mark.parametrize("white", [" ", "\t", "\u00a0", "\u3000", "\r\n \r\n"])
def test_long_white_space_of_every_kind_between_words(encoding: str, white: str) -> None:
    made = cut(f"Begin.{white * 20_000}Middle{white * 20_000}end.", encoding, 64, name="a.txt")
    assert "".join(made.text.split()) == "Begin.Middleend."


@pytest.mark.parametrize("template", ["markdown", "xml", "plain"])
@pytest.mark.parametrize(
    "source",
    [
        "Source" + " " * 50_000 + "x",
        "[" + " " * 50_000 + "x",
        "<" + " " * 50_000 + "x",
        "[" * 50_000,
    ],
)
def test_what_looks_like_the_start_of_a_block_ends(
    encoding: str, template: str, source: str
) -> None:
    cut(source, encoding, 64, name="a.txt", template=template)


def test_a_name_longer_than_the_cap_is_not_counted_for_every_section(encoding: str) -> None:
    def sections(count: int) -> str:
        below = (f"## {n}\n\ntext {n} " + "word " * 60 for n in range(count))
        return f"# {'long ' * 20_000}\n\n" + "\n\n".join(below)

    def beyond(work: Work) -> float:
        return work.bytes - MOST_BYTES * work.size

    assert beyond(work_of(sections(200), encoding, 64, "a.md")) < 200_000


def test_reading_a_large_file_gives_no_more_elements_than_it_has(encoding: str) -> None:
    assert len(parse("a" * 150_000).elements) == 1
