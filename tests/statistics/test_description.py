"""Absolute figures, and those far outside."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.description import describe, far_above


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=40), st.integers(0, 5))
def test_description_is_that_of_numpy_and_scipy(laps, void):
    """Mean, sample standard deviation, median and MAD are the usual ones; void laps are counted and nothing else."""
    description = describe([*laps, *[None] * void])
    assert (description.n, description.void) == (len(laps), void)
    assert description.mean == pytest.approx(np.mean(laps))
    assert description.sd == pytest.approx(np.std(laps, ddof=1), abs=1e-6)
    assert description.median == pytest.approx(np.median(laps))
    assert description.mad == pytest.approx(scipy.stats.median_abs_deviation(laps), abs=1e-9)
    assert (description.lowest, description.highest) == (min(laps), max(laps))


def test_little_is_described_as_far_as_possible():
    """One lap has no deviation, none has no mean."""
    assert describe([5.0]).sd is None
    assert describe([5.0]).mad == 0
    assert describe([None]).mean is None
    assert describe([]).n == 0


@given(st.lists(st.floats(0, 1), max_size=40), st.floats(0.01, 0.5))
def test_far_above_is_above_both_limits(figures, least):
    """Nothing within the least distance of the median is named, nor within five robust standard deviations."""
    found = far_above(figures, least)
    median = np.median(figures) if figures else 0.0
    sd = scipy.stats.median_abs_deviation(figures, scale="normal") if figures else 0.0
    for position, figure in enumerate(figures):
        distance = figure - median
        # 1.4826 is rounded.
        if abs(distance - max(5 * sd, least)) > 1e-4:
            assert (position in found) == bool(distance > max(5 * sd, least))


def test_a_few_far_ones_do_not_hide_each_other():
    """Median and median absolute deviation hardly move with them; mean and standard deviation would."""
    quiet = [0.01, 0.02, 0.01, 0.03, 0.02, 0.02, 0.01, 0.02]
    assert far_above([*quiet, 0.4, 0.5], 0.05) == [8, 9]
    assert far_above(quiet, 0.05) == []
    assert far_above([0.0] * 9 + [0.04], 0.05) == []
    assert far_above([], 0.05) == []


def test_chance_seldom_names_a_figure():
    """Of 20 normal figures, in 2,000 draws, none is far above in at least 99 % of them."""
    generator = np.random.default_rng(5)
    named = sum(bool(far_above(list(generator.normal(size=20)), 0.0)) for _ in range(2_000))
    assert named < 20
