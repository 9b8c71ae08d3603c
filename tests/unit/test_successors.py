"""Chunk successors: same content, else same place and nearest text, else none."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.successors import Place, match_successors

Version = list[tuple[str, str]]


def match(old: Version, new: Version) -> dict[int, int]:
    """Successor ordinal by old ordinal; a version is a list of (heading path, text)."""

    def places(name: str, version: Version) -> list[Place]:
        return [Place(f"{name}{n}", n, text_hash(t), p) for n, (p, t) in enumerate(version)]

    texts = {f"{k}{n}": t for k, v in (("o", old), ("n", new)) for n, (_, t) in enumerate(v)}

    def given_texts(ids: Sequence[str]) -> dict[str, str]:
        return {i: texts[i] for i in ids}

    found = match_successors(places("o", old), places("n", new), given_texts, given_texts)
    return {int(o[1:]): int(n[1:]) for o, n in found.items()}


def test_equal_content_wins_wherever_it_moved() -> None:
    old = [("A", "red apples are sweet"), ("B", "green pears are sour")]
    new = [("B", "green pears are sour"), ("C", "red apples are sweet")]
    assert match(old, new) == {0: 1, 1: 0}


def test_equal_content_twice_prefers_its_own_place() -> None:
    old = [("A", "see the notes"), ("B", "see the notes")]
    new = [("B", "see the notes"), ("A", "see the notes")]
    assert match(old, new) == {0: 1, 1: 0}


def test_an_edited_text_is_found_at_its_place() -> None:
    old = [("Refunds", "refunds take ten days to arrive"), ("Refunds", "bring the paper receipt")]
    new = [
        ("Refunds", "bring the printed receipt"),
        ("Refunds", "refunds take five days to arrive"),
    ]
    assert match(old, new) == {0: 1, 1: 0}


def test_the_same_words_at_another_place_are_none() -> None:
    assert match([("A", "ten days to pay")], [("B", "ten days to pay up")]) == {}


def test_unrelated_text_at_the_same_place_is_none() -> None:
    assert match([("A", "ten days to pay")], [("A", "our office in Ghent")]) == {}


def test_five_chunks_that_become_two() -> None:
    parts = ["alpha beta", "gamma delta", "epsilon zeta", "eta theta", "iota kappa"]
    old = [("A", part) for part in parts]
    new = [("A", " ".join(parts[:3])), ("A", " ".join(parts[3:]))]
    assert match(old, new) == {0: 0, 1: 0, 2: 0, 3: 1, 4: 1}


def test_no_text_is_asked_for_where_content_settles_all() -> None:
    def never(ids: Sequence[str]) -> dict[str, str]:
        raise AssertionError(ids)

    places = [Place("o", 0, "h", "A")], [Place("n", 0, "h", "B")]
    assert match_successors(*places, never, never) == {"o": "n"}


VERSIONS = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from(["a b c", "a b d", "x y", "z", ""])),
    max_size=6,
)


@given(VERSIONS, VERSIONS)
def test_equal_content_always_has_a_successor_with_it(old: Version, new: Version) -> None:
    found = match(old, new)
    contents = {text for _, text in new}
    for number, (path, text) in enumerate(old):
        if text in contents:
            assert new[found[number]][1] == text
        elif number in found:
            assert new[found[number]][0] == path


@given(VERSIONS)
def test_a_version_succeeds_itself_chunk_by_chunk(version: Version) -> None:
    assert match(version, version) == {n: n for n in range(len(version))}
