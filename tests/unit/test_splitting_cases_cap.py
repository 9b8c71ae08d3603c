"""cases/splitting.md, "Cap": no block costs more than the cap, whatever it is made of."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.support.splitting import ENCODINGS, TITLE, body_cap, cut, parse, profile

from chunkprep_ingest.errors import IndivisibleError, PolicyError
from chunkprep_ingest.ids import bytes_hash
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.policy import MIN_CAP, Policy
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.profile import check_policy, make_profile
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

pytestmark = pytest.mark.parametrize("encoding", ENCODINGS)
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def letters(seed: int, count: int, longest: int = 10) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, longest)))
            for _ in range(count)]  # fmt: skip


def test_what_is_counted_is_what_is_emitted(encoding: str) -> None:
    for body in range(9, 26):
        made = cut("hoytyof gjzsrwahyf hvbzlrk dodgzcbn nwdfto", encoding, body_cap(encoding, body))
        assert "".join("".join(made.texts).split()) == "".join(made.parsed.text.split())


def test_random_words_joined_by_one_space(encoding: str) -> None:
    made = cut(" ".join(letters(8, 8000)), encoding, 128)
    fill = sum(chunk.block_tokens for chunk in made.chunks) / len(made.chunks) / 128
    assert fill > 0.85


def test_a_heading_and_its_paragraph_are_counted_joined(encoding: str) -> None:
    source = "## Refund window\nMoney goes back within fourteen days of the request."
    count = tiktoken_counter(encoding).count
    made = profile(encoding)
    whole = count(made.template.header(TITLE) + source + made.template.delimiter)
    # The section's path is budgeted, even where the header then leaves it out: a little slack.
    assert any(len(cut(source, encoding, cap).chunks) == 1 for cap in range(whole, whole + 12))
    assert len(cut(source, encoding, whole - 1).chunks) > 1


@pytest.mark.parametrize("spare", range(-6, 7))
def test_a_heading_above_a_table_that_alone_just_fits(encoding: str, spare: int) -> None:
    table = "| Fare | Fee |\n| --- | --- |\n| Saver | 20 |\n| Flex | 0 |"
    alone = tiktoken_counter(encoding).count(table)
    made = cut(f"## Fees for changes\n\n{table}\n", encoding, body_cap(encoding, alone + spare))
    assert made.kinds == ["title", "table"]


def yaml_file(tokens: int, encoding: str) -> str:
    lines = ["openapi: 3.1.0", "paths:"]
    count = tiktoken_counter(encoding).count
    for number, word in enumerate(letters(3, tokens)):
        lines += [f"  /{word}/{{id}}:", "    get:", f"      operationId: get_{word}_{number}"]
        if number % 200 == 0 and count("\n".join(lines)) > tokens:
            return "\n".join(lines)
    raise AssertionError("not enough words")


def test_a_yaml_file_without_sentences_is_cut_at_lines(encoding: str) -> None:
    made = cut(yaml_file(48_000, encoding), encoding, 256, name="openapi.txt")
    text = made.parsed.text
    assert all(chunk.start == 0 or text[chunk.start - 1] == "\n" for chunk in made.chunks)
    assert "\n".join(made.texts) == text


def test_long_lines_and_one_very_long_line(encoding: str) -> None:
    words = letters(5, 30_000)
    lines = [" ".join(words[at : at + 120]) for at in range(0, 6000, 120)]
    longest = " ".join(words[6000:14_000])
    assert tiktoken_counter(encoding).count(longest) > 15_000
    for name in ("a.md", "a.txt"):
        made = cut("\n".join([*lines, longest, *lines]), encoding, 128, name=name)
        assert " ".join(made.texts).split() == made.parsed.text.split()


def test_the_joiner_between_two_paragraphs_counts(encoding: str) -> None:
    paragraph = "one two three four five six seven eight nine ten"
    source = f"{paragraph}\n\n{paragraph}"
    count = tiktoken_counter(encoding).count
    assert count(paragraph) == 10
    assert len(cut(source, encoding, body_cap(encoding, 20)).chunks) == 2
    assert any(
        len(cut(source, encoding, body_cap(encoding, 21 + spare)).chunks) == 1 for spare in range(4)
    )


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("cap", [16, 32, 64])
def test_a_title_and_a_heading_longer_than_the_cap(encoding: str, template: str, cap: int) -> None:
    heading = " ".join(letters(1, 300))
    for title in (heading, "\u98df\u3079\u7269" * 200, "x" * 5000, FAMILY * 40):
        source = f"# {heading}\n\nShort text.\n\n## {heading[::-1]}\n\nMore text.\n"
        made = cut(source, encoding, cap, title=title, template=template)
        assert all(chunk.header_tokens <= max(cap // 4, 6) for chunk in made.chunks)
        words = made.text.split()
        assert [w for w in words if w in ("Short", "More", "text.")] == [
            "Short", "text.", "More", "text.",
        ]  # fmt: skip


@pytest.mark.parametrize("cap", [32, 64, 128])
def test_twelve_nested_long_headings_keep_the_nearest(encoding: str, cap: int) -> None:
    names = [f"Level {n} " + " ".join(letters(n, 12)) for n in range(1, 13)]
    writer = [f"<h{min(n, 6)}>{name}</h{min(n, 6)}>" for n, name in enumerate(names, 1)]
    source = "".join(f"{head}<p>Text {n} {'word ' * 40}</p>" for n, head in enumerate(writer, 1))
    made = cut(source, encoding, cap, name="a.html")
    for chunk in made.chunks:
        nearest = chunk.heading_path[-1]
        opening = " ".join(nearest.split()[:2])  # "Level 7": it may be shortened behind that
        assert opening in chunk.header or opening in chunk.text


def test_a_heading_without_spaces_is_shortened_and_not_dropped(encoding: str) -> None:
    name = "\u6599\u91d1\u8868" + "\u8fd4\u91d1\u306e\u6761\u4ef6" * 30
    made = cut(f"# {name}\n\n" + "Text. " * 300, encoding, 64)
    assert len(made.chunks) > 2
    assert all("\u6599" in chunk.header for chunk in made.chunks[1:])


def wide_header_table(encoding: str) -> str:
    words = letters(11, 200)
    names = [" ".join(words[at : at + 10]) for at in range(0, 200, 10)]
    rows = [" | ".join([f"r{row}"] + ["1"] * (len(names) - 1)) for row in range(40)]
    header = f"| {' | '.join(names)} |\n|{' --- |' * len(names)}"
    assert tiktoken_counter(encoding).count(header) > 500
    return "\n".join([header, *(f"| {row} |" for row in rows)])


def test_a_table_header_as_long_as_the_cap_is_not_repeated(encoding: str) -> None:
    made = cut(wide_header_table(encoding), encoding, 512)
    sizes = [chunk.block_tokens for chunk in made.chunks]
    assert sum(sizes) / len(sizes) > 256


def test_a_table_header_that_is_too_long_to_repeat_is_said_to_be_dropped(encoding: str) -> None:
    source = wide_header_table(encoding)
    prepared = prepare_version(
        parse(source),
        document="a.md",
        uri="file:a.md",
        data_hash=bytes_hash(source.encode()),
        metadata=Metadata(),
        policy=Policy(cap=512),
        profile=profile(encoding),
        counter=tiktoken_counter(encoding),
    )
    assert [warning.split(":")[0] for warning in prepared.warnings] == ["table_header"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_cap_below_the_smallest_is_refused_with_that_number(encoding: str, template: str) -> None:
    with pytest.raises(PolicyError, match=f"use at least {MIN_CAP}"):
        Policy(cap=1)
    with pytest.raises(PolicyError, match=f"use at least {MIN_CAP}"):
        Policy(cap=MIN_CAP - 1)
    check_policy(Policy(cap=MIN_CAP), profile(encoding, template))  # so the number holds


def test_a_cap_below_the_header_is_refused_with_the_smallest_that_works(encoding: str) -> None:
    opening = " of the knowledge base: " * 3
    template = replace(TEMPLATES["markdown"], name="long", before_label=opening)
    made = make_profile(tiktoken_counter(encoding), template)
    with pytest.raises(PolicyError, match="use at least") as caught:
        check_policy(Policy(cap=MIN_CAP), made)
    smallest = int(str(caught.value).rsplit(" ", 1)[1])
    check_policy(Policy(cap=smallest), made)
    with pytest.raises(PolicyError):
        split(parse("x"), TITLE, Policy(cap=smallest - 1), made, tiktoken_counter(encoding))
    chunks = split(parse("x"), TITLE, Policy(cap=smallest), made, tiktoken_counter(encoding))
    assert [chunk.text for chunk in chunks] == ["x"]


@pytest.mark.parametrize(
    "source", [f"{FAMILY}\U0002070ea", f"text {FAMILY} text", "a" + "\u0301" * 60, FAMILY * 30]
)
def test_a_grapheme_that_cannot_fit_is_an_error_with_a_name(encoding: str, source: str) -> None:
    with pytest.raises(IndivisibleError) as caught:
        cut(source, encoding, MIN_CAP)
    assert caught.value.code == "indivisible"
    assert "--cap" in str(caught.value)


def test_a_grapheme_that_fits_the_smallest_cap_is_a_chunk(encoding: str) -> None:
    assert cut("\U0001f680", encoding, MIN_CAP).texts == ["\U0001f680"]
