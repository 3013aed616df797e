"""Laps per start."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.start_length import Variances, laps_per_start, variance_components


def test_formula():
    """sqrt(90 / 10 * 0.01 / 0.0025) = 6."""
    assert laps_per_start(90, 10, Variances(lap=0.01, start=0.0025)) == 6


@given(st.floats(10, 300), st.floats(1, 60), st.floats(0.0001, 0.1), st.floats(0.0001, 0.1))
def test_formula_minimises_the_variance_for_the_cost(start_seconds, lap_seconds, lap, start):
    """Variance of the mean times its cost is within 13 % of the least (laps are whole numbers)."""
    chosen = laps_per_start(start_seconds, lap_seconds, Variances(lap, start), fewest=1, most=1000)

    def price(laps):
        return (start + lap / laps) * (start_seconds + lap_seconds * laps)

    assert price(chosen) <= 1.13 * min(price(laps) for laps in range(1, 1001))


def test_clamped():
    """Never fewer or more than asked for; without variance between starts as many as allowed."""
    assert laps_per_start(10, 10, Variances(0.0001, 0.01)) == 5
    assert laps_per_start(600, 1, Variances(0.01, 0.0001)) == 12
    assert laps_per_start(60, 10, Variances(0.01, 0.0)) == 12


def test_impossible_costs_are_refused():
    """A lap that takes no time has no optimum."""
    with pytest.raises(ValueError, match="must be positive"):
        laps_per_start(60, 0, Variances(0.01, 0.01))


def test_variance_components_are_found():
    """Known variances of laps and starts are estimated back, with unequal numbers of laps, too."""
    generator = np.random.default_rng(1)
    starts = [generator.normal(generator.normal(0, 0.05), 0.1, generator.integers(4, 12)).tolist() for _ in range(2000)]
    variances = variance_components(starts)
    assert variances.lap == pytest.approx(0.01, rel=0.05)
    assert variances.start == pytest.approx(0.0025, rel=0.15)


def test_no_negative_variance():
    """Starts more alike than chance have a variance of 0, not less."""
    assert variance_components([[1.0, 2.0], [2.0, 1.0]]).start == 0


def test_too_little_to_split():
    """One start, or one lap each, cannot tell laps from starts."""
    for starts in ([[1.0, 2.0]], [[1.0], [2.0]]):
        with pytest.raises(ValueError, match="Two starts"):
            variance_components(starts)
