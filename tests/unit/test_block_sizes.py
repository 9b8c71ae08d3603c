"""Sizes against the cap, from counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chunkprep_packer.block_sizes import STEPS, block_sizes
from chunkprep_store import SizeCount

counts = st.lists(
    st.builds(SizeCount, st.sampled_from([64, 512]), st.integers(1, 600), st.integers(1, 9))
)


@given(counts)
def test_every_block_counts_once_and_the_quantiles_are_in_order(found: list[SizeCount]) -> None:
    sizes = block_sizes(found, 512)
    each = sorted(count.block_tokens for count in found for _ in range(count.chunks))
    assert sum(sizes.histogram) == sizes.chunks == len(each)
    assert sizes.tokens == sum(each)
    marks = (sizes.smallest, sizes.tenth, sizes.median, sizes.ninetieth, sizes.largest)
    assert list(marks) == sorted(marks)
    if each:
        assert (sizes.smallest, sizes.largest) == (each[0], each[-1])
        assert 2 * sum(size <= sizes.median for size in each) >= len(each)
    over = sum(count.chunks for count in found if count.block_tokens > (count.cap or 0))
    assert sizes.histogram[STEPS] == over


def test_a_step_takes_its_upper_end_in() -> None:
    sizes = block_sizes([SizeCount(100, size, 1) for size in (1, 10, 11, 100, 101)], 100)
    assert sizes.histogram == (2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1)


def test_without_a_known_cap_there_is_no_histogram() -> None:
    assert block_sizes([SizeCount(None, 5, 1)], None).histogram == ()
    assert sum(block_sizes([SizeCount(None, 5, 1)], 64).histogram) == 1
