"""The signed-rank test, Holm's procedure, and how many blocks a difference needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.signed_rank import (
    achieved_level,
    blocks_for_difference,
    blocks_for_equivalence,
    critical_statistic,
    fewest_differences,
    hodges_lehmann,
    holm,
    lower_tail,
    signed_rank,
    smallest_difference,
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


p_values = st.lists(st.floats(1e-9, 1), min_size=1, max_size=8)


def test_published_example_of_holm():
    """Holm's own arithmetic: 0.01, 0.04, 0.03, 0.005 at 5 % reject the two smallest."""
    steps = holm([0.01, 0.04, 0.03, 0.005])
    assert [step.adjusted_p for step in steps] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [step.rejected for step in steps] == [True, False, False, True]
    assert [step.level for step in steps] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


@given(p_values)
def test_level_and_decision_agree(values):
    """A hypothesis is rejected exactly if its p is at most its level, so that its interval can say the same."""
    for p, step in zip(values, holm(values), strict=True):
        assert step.rejected == (p <= step.level)
        assert 0.05 / len(values) * (1 - 1e-12) <= step.level <= 0.05


@given(p_values)
def test_adjusted_p_and_decision_agree(values):
    """Rejected means an adjusted p of at most 5 % (up to rounding); adjusted p keep the order and are probabilities."""
    steps = holm(values)
    for p, step in zip(values, steps, strict=True):
        assert step.adjusted_p <= 0.05 * (1 + 1e-12) if step.rejected else step.adjusted_p >= 0.05 * (1 - 1e-12)
        assert p <= step.adjusted_p <= 1
    ordered = [step.adjusted_p for _, step in sorted(zip(values, steps, strict=True), key=lambda both: both[0])]
    assert ordered == sorted(ordered)


@given(p_values)
def test_between_bonferroni_and_none(values):
    """Holm rejects whatever Bonferroni rejects, and nothing above 5 %."""
    for p, step in zip(values, holm(values), strict=True):
        assert step.rejected or p > 0.05 / len(values)
        assert not (step.rejected and p > 0.05)


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
