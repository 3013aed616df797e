"""Absolute figures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.description import describe


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
