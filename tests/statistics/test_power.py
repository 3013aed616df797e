"""Blocks needed and differences resolved; that they are right is shown by test_calibration."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.power import blocks_for_difference, blocks_for_equivalence, smallest_difference

ratios = st.floats(1.005, 3)
deviations = st.floats(0.005, 0.5)


@given(ratios, deviations)
def test_up_and_down_are_alike(ratio, sd):
    """Finding a third more and finding a quarter less (its inverse) take the same number of blocks."""
    up, down = blocks_for_difference(ratio, sd), blocks_for_difference(1 / ratio, sd)
    assert abs(up - down) <= 1  # 1 / (1 / x) is not always x


@given(ratios, deviations)
def test_more_noise_and_more_power_need_more(ratio, sd):
    """The number of blocks grows with noise and power and is smaller for larger differences."""
    blocks = blocks_for_difference(ratio, sd)
    assert blocks_for_difference(ratio, 2 * sd) >= blocks
    assert blocks_for_difference(ratio, sd, power=0.9) >= blocks
    assert blocks_for_difference(ratio**2, sd) <= blocks


@given(st.integers(8, 400), deviations)
def test_smallest_difference_inverts_blocks(blocks, sd):
    """The smallest difference of n blocks needs at most n blocks, and a clearly smaller one more than a few less."""
    ratio = smallest_difference(blocks, sd)
    assert blocks_for_difference(ratio * (1 + 1e-9), sd) <= blocks
    if blocks > 60:
        assert blocks_for_difference(math.exp(math.log(ratio) * 0.95), sd) > blocks


def test_too_few_blocks_resolve_nothing():
    """Five blocks cannot decide at 5 %."""
    assert smallest_difference(5, 0.1) == math.inf
    assert smallest_difference(0, 0.1) == math.inf
    assert smallest_difference(7, 0.1, alpha=0.0125) == math.inf
    assert blocks_for_difference(2.0, 0.0) == 6


def test_no_noise_resolves_everything():
    """Without noise the smallest difference is none."""
    assert smallest_difference(10, 0.0) == 1


@given(st.floats(0.01, 0.1), deviations)
def test_equivalence_is_cheapest_at_the_middle(margin, sd):
    """A true ratio nearer to the edge of the margin needs more blocks to be called equivalent."""
    assert blocks_for_equivalence(margin, sd) <= blocks_for_equivalence(margin, sd, math.sqrt(1 + margin))


@pytest.mark.parametrize("ratio", [1.03, 0.9])
def test_equivalence_outside_the_margin_cannot_be_shown(ratio):
    """A ratio at or outside the edge is an error, not a huge number."""
    with pytest.raises(ValueError, match="not within"):
        blocks_for_equivalence(0.03, 0.1, ratio)


@pytest.mark.parametrize(("ratio", "sd", "power"), [(1.0, 0.1, 0.8), (-1, 0.1, 0.8), (1.1, -1, 0.8), (1.1, 0.1, 1.0)])
def test_impossible_arguments_are_refused(ratio, sd, power):
    """Each argument out of its range is named."""
    with pytest.raises(ValueError, match="must"):
        blocks_for_difference(ratio, sd, power)
