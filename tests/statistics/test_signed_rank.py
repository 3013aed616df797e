"""The signed-rank test and its interval: against scipy, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.signed_rank import (
    achieved_level,
    critical_statistic,
    fewest_differences,
    hodges_lehmann,
    lower_tail,
    signed_rank,
    walsh_averages,
)

logs = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=1, max_size=60)
# Multiples of 1/64: sums are exact, and ties and zeros are frequent.
coarse = st.lists(st.integers(-20, 20).map(lambda i: i / 64), min_size=1, max_size=60)
alphas = st.sampled_from([0.2, 0.1, 0.05, 0.025, 0.0125, 0.01])


@pytest.mark.parametrize("n", [1, 2, 5, 6, 9, 20, 49, 50])
def test_p_is_scipys_exact_one(n):
    """Without ties the p-value is that of scipy's exact test."""
    generator = np.random.default_rng(n)
    for shift in (0.0, 0.1, 0.5, 2.0):
        sample = generator.normal(shift, 1, n)
        assert signed_rank(sample).p == pytest.approx(scipy.stats.wilcoxon(sample, method="exact").pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [51, 80, 300])
def test_p_is_scipys_normal_one(n):
    """Beyond 50 differences it is that of scipy's normal approximation with continuity correction."""
    generator = np.random.default_rng(n)
    for shift in (0.0, 0.1, 0.5, 2.0):
        sample = generator.normal(shift, 1, n)
        expected = scipy.stats.wilcoxon(sample, method="asymptotic", correction=True).pvalue
        assert signed_rank(sample).p == pytest.approx(expected, rel=1e-9)


def test_normal_approximation_continues_the_exact_distribution():
    """At the seam the two distributions differ by less than a thousandth."""
    exact = lower_tail(50, 434)
    deviation = math.sqrt(50 * 51 * 101 / 24)
    assert exact == pytest.approx(scipy.stats.norm.cdf((434.5 - 50 * 51 / 4) / deviation), abs=1e-3)


@given(logs | coarse, alphas)
def test_test_and_interval_agree(differences, alpha):
    """The interval excludes 0 exactly if p is at most alpha, with ties and zeros, too."""
    result = signed_rank(differences, alpha)
    assert (not result.low <= 0 <= result.high) == (result.p <= alpha)


@given(coarse, st.integers(-20, 20), alphas)
def test_interval_holds_what_the_test_does_not_reject(differences, centre, alpha):
    """A centre is inside the interval exactly if the test of the differences from it does not reject."""
    result = signed_rank(differences, alpha)
    shifted = signed_rank([d - centre / 64 for d in differences], alpha)
    assert (result.low <= centre / 64 <= result.high) == (shifted.p > alpha)


@given(logs | coarse, alphas)
def test_interval_holds_the_estimate(differences, alpha):
    """The estimate is inside the interval, p is a probability, and at least the confidence asked for is reached."""
    result = signed_rank(differences, alpha)
    assert result.low <= result.estimate <= result.high
    assert 0 <= result.p <= 1
    assert 1 - alpha <= result.confidence <= 1


@given(logs, alphas)
def test_wider_with_more_confidence(differences, alpha):
    """An interval of a smaller level holds the one of a larger level."""
    wide, narrow = signed_rank(differences, alpha / 2), signed_rank(differences, alpha)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(logs)
def test_signs_exchange_the_ends(differences):
    """Exchanging contender and baseline mirrors estimate and interval exactly and leaves p."""
    one, other = signed_rank(differences), signed_rank([-d for d in differences])
    assert (one.estimate, one.low, one.high, one.p) == (-other.estimate, -other.high, -other.low, other.p)


@given(logs, st.randoms(use_true_random=False))
def test_order_does_not_matter(differences, generator):
    """The order of the blocks changes nothing."""
    shuffled = list(differences)
    generator.shuffle(shuffled)
    assert signed_rank(shuffled) == signed_rank(differences)


@given(coarse, st.integers(-64, 64), st.sampled_from([0.25, 0.5, 2.0, 4.0]))
def test_estimate_moves_and_stretches_with_the_differences(differences, shift, scale):
    """The estimate of a x + b is a times the estimate plus b."""
    moved = hodges_lehmann([scale * d + shift / 64 for d in differences])
    assert moved == pytest.approx(scale * hodges_lehmann(differences) + shift / 64, abs=1e-12)


def test_walsh_averages_of_three():
    """Six averages of three differences, in order."""
    assert walsh_averages([3.0, 0.0, 1.0]).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 3.0]
    assert hodges_lehmann([3.0, 0.0, 1.0]) == 1.25


def test_published_example():
    """Hollander and Wolfe's depression data: p = 0.0391, estimate 0.46, interval of 96.1 % (0.01, 0.786)."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    result = signed_rank([b - a for b, a in zip(before, after, strict=True)])
    assert result.p == pytest.approx(0.0390625)
    assert result.estimate == pytest.approx(0.46)
    assert (result.low, result.high) == (pytest.approx(0.01), pytest.approx(0.786))
    assert result.confidence == pytest.approx(1 - 0.0390625)


@pytest.mark.parametrize("n", range(6))
def test_too_few_differences_have_an_infinite_interval(n):
    """Fewer than six differences cannot decide at 5 %, however clear they look."""
    result = signed_rank([1.0 + i / 10 for i in range(n)])
    assert (result.low, result.high, result.confidence) == (-math.inf, math.inf, 1.0)
    assert result.p > 0.05


def test_fewest_differences():
    """Six at 5 %, eight for four contenders, and then the level is one that can be reached."""
    assert [fewest_differences(alpha) for alpha in (0.05, 0.0125, 0.01)] == [6, 8, 8]
    assert critical_statistic(5, 0.05) == -1
    assert achieved_level(5, 0.05) == 0
    assert achieved_level(6, 0.05) == 2 / 64
    with pytest.raises(ValueError, match="between 0 and 1"):
        fewest_differences(0)


def test_identical_figures_are_no_difference():
    """Differences that are all zero: estimate 0, interval (0, 0), p = 1."""
    result = signed_rank([0.0] * 10)
    assert (result.estimate, result.low, result.high, result.p) == (0, 0, 0, 1)


def test_no_differences_have_no_estimate():
    """Without differences there is an interval (everything) but no estimate."""
    assert signed_rank([]).estimate is None
    with pytest.raises(ValueError, match="at least one valid pair"):
        hodges_lehmann([])
