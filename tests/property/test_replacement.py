"""Law 7 as a property of the pure decision: whatever happened, one version is in force."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chunkprep_ingest.lifecycle import EffectiveRange, in_force, overlapping
from chunkprep_ingest.replacement import (
    Standing,
    VersionFacts,
    edition_precedes,
    older_edition,
    settle,
    takes_over,
)

MOMENTS = st.integers(0, 12)
OPEN = st.none() | MOMENTS


@st.composite
def histories(draw: st.DrawFn, back_to_draft: bool = False) -> list[VersionFacts]:
    facts: list[VersionFacts] = []
    for number in range(1, draw(st.integers(1, 6)) + 1):
        cut = {v.recut_of for v in facts}
        whole = [v for v in facts if v.version not in cut]
        if whole and draw(st.integers(0, 3)) == 0:
            of = draw(st.sampled_from(whole))
            facts.append(replace(of, version=number, recut_of=of.version, recut_at=10 + number))
            continue
        draft = draw(st.integers(0, 5)) == 0
        closes_at = draw(st.none() | OPEN)
        drafted = back_to_draft and not draft and closes_at is not None and draw(st.booleans())
        facts.append(
            VersionFacts(
                version=number,
                released_at=None if draft else draw(MOMENTS),
                valid_from=draw(OPEN),
                valid_to=draw(OPEN),
                edition=draw(st.sampled_from([None, None, "2019", "2024", "spring"])),
                closes_at=closes_at,
                withdrawn=draw(st.integers(0, 5)) == 0 and not draft and not drafted,
                superseded_elsewhere=draw(st.integers(0, 5)) == 0,
                restored=draw(st.integers(0, 5)) == 0,
                drafted=drafted,
            )
        )
    return facts


@given(histories(back_to_draft=True), MOMENTS)
def test_a_new_cut_of_any_version_changes_nothing_about_what_is_in_force(
    facts: list[VersionFacts], at: int
) -> None:
    before = settle(facts)
    cut = {v.recut_of for v in facts}
    number = len(facts) + 1
    for of in facts:
        if of.version in cut:
            continue
        recut = replace(of, version=number, recut_of=of.version, recut_at=20 + at)
        after = settle([*facts, recut])
        for moment in range(-1, 40):
            then = {n for n, s in before.of.items() if in_force(s.status, *s.range, moment)}
            now = {n for n, s in after.of.items() if in_force(s.status, *s.range, moment)}
            assert {of.version if n == number else n for n in now} == then
        assert after.of[number].status == before.of[of.version].status
        assert after.current == (number if before.current == of.version else before.current)


@given(histories(back_to_draft=True))
def test_ranges_never_overlap_and_one_version_at_most_is_active(
    facts: list[VersionFacts],
) -> None:
    settled = settle(facts)
    released = [s for s in settled.of.values() if s.status != "draft" or s.range.end is not None]
    assert overlapping(s.range for s in released) == []
    assert sum(s.status == "active" for s in released) <= 1
    for at in range(-1, 15):
        assert sum(in_force(s.status, *s.range, at) for s in settled.of.values()) <= 1


@given(histories())
def test_every_released_version_but_the_last_has_a_successor(facts: list[VersionFacts]) -> None:
    settled = settle(facts)
    released = {n: s for n, s in settled.of.items() if s.status != "draft"}
    ends = [n for n, s in released.items() if s.successor is None]
    assert {n for n in ends if facts[n - 1].released_at is not None} == (
        {settled.current} if any(v.released_at is not None for v in facts) else set()
    )


@given(histories())
def test_the_order_of_the_facts_does_not_matter(facts: list[VersionFacts]) -> None:
    assert settle(facts) == settle(reversed(facts))


@given(histories(back_to_draft=True), MOMENTS)
def test_a_version_that_just_follows_starts_now_and_leaves_the_past_as_it_was(
    facts: list[VersionFacts], gap: int
) -> None:
    now = 20 + gap
    before = settle(facts)
    after = settle([*facts, VersionFacts(version=len(facts) + 1, released_at=now)])
    new = after.of[len(facts) + 1]
    first = all(v.released_at is None for v in facts)
    assert new.range == ((None if first else now), None)
    for number, standing in before.of.items():
        for at in range(-1, 20):
            assert in_force(standing.status, *standing.range, at) == in_force(
                after.of[number].status, *after.of[number].range, at
            )


@given(histories(back_to_draft=True), MOMENTS, MOMENTS)
def test_a_version_that_is_a_draft_again_before_its_day_changes_nothing(
    facts: list[VersionFacts], early: int, more: int
) -> None:
    number = len(facts) + 1
    announced = VersionFacts(
        version=number, released_at=20, valid_from=20 + early + more, closes_at=20 + early,
        drafted=True,
    )  # fmt: skip
    before, after = settle(facts), settle([*facts, announced])
    assert (after.of[number].status, after.current) == ("draft", number)
    for at in range(-1, 50):
        assert not in_force("draft", *after.of[number].range, at)
        for known, standing in before.of.items():
            assert in_force(standing.status, *standing.range, at) == in_force(
                after.of[known].status, *after.of[known].range, at
            )


SPANS = st.tuples(OPEN, OPEN).map(lambda span: EffectiveRange(*span))


@given(st.lists(st.builds(Standing, st.just("superseded"), SPANS, st.none())), MOMENTS)
def test_a_document_takes_over_at_the_first_moment_that_it_is_in_force(
    versions: list[Standing], at: int
) -> None:
    there = [
        t for t in range(at, 20) if any(in_force(s.status, *s.range, t) for s in versions)
    ]  # each start and end lies below
    assert takes_over(at, versions, stands=False) == min(there, default=None)
    assert takes_over(at, versions, stands=True) == min(there, default=at)


@given(st.text(max_size=8), st.text(max_size=8))
def test_editions_are_ordered_one_way_at_most(one: str, two: str) -> None:
    assert not (edition_precedes(one, two) and edition_precedes(two, one))


def test_editions_of_one_shape_compare_by_number() -> None:
    assert edition_precedes("v1.9", "V1.10")
    assert edition_precedes("2019", "2024")
    assert not edition_precedes("2019", "v2024")
    assert not edition_precedes("spring", "autumn")


def test_the_same_edition_again_is_a_correction() -> None:
    one = VersionFacts(1, 10, valid_from=5, edition="3")
    assert not older_edition(VersionFacts(2, 20, valid_from=1, edition="3"), one)
    assert older_edition(VersionFacts(2, 20, valid_from=1), one)
