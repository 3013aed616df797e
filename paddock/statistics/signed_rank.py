"""Wilcoxon's signed-rank test turned inside out, Holm's step-down procedure, and how many differences a test needs.

Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd edition, sections 3.1-3.3. The statistic is
counted in Walsh averages (d_i + d_j) / 2, i <= j: the sum of positive ranks is the number of positive averages (Tukey).

Assumption: each difference is distributed symmetrically about the same centre. Coin-flip order within the blocks makes
it so under the null hypothesis, whatever the machine does.

Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).

The normal approximation of the one-sample test, n = ((z_alpha + z_power) sd / effect)^2, with two corrections:
+ z_alpha^2 / 2 for the unknown standard deviation (Guenther, The American Statistician 35, 1981), and the signed-rank
test's asymptotic relative efficiency 3 / pi for normal differences (Lehmann, Nonparametrics, 1975). z_alpha belongs to
the level that the discrete test really has. Heavier tails than the normal's need fewer blocks than is said here.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 50  # as in scipy: up to here the null distribution is counted out, beyond it is taken as normal


@dataclass(frozen=True)
class SignedRank:
    """What the signed-rank test says of one sample of differences.

    :param estimate: the Hodges-Lehmann estimate of the centre; None without differences.
    :param low, high: the interval of the centre; infinite where there are too few differences for the level.
    :param p: two-sided, of the hypothesis that the centre is 0; p <= alpha exactly if 0 is outside [low, high].
    :param confidence: what the interval reaches: at least 1 - alpha, because the statistic is discrete.
    """

    estimate: float | None
    low: float
    high: float
    p: float
    confidence: float


def walsh_averages(differences: Sequence[float]) -> NDArray[np.float64]:
    """All averages (d_i + d_j) / 2 with i <= j, in ascending order."""
    values = np.asarray(differences, dtype=np.float64)
    first, second = np.triu_indices(len(values))
    return np.sort((values[first] + values[second]) / 2)


def hodges_lehmann(differences: Sequence[float]) -> float:
    """The median of the Walsh averages.

    :raises ValueError: without differences.
    """
    if len(differences) == 0:
        raise ValueError("There is no estimate without differences; at least one valid pair is needed.")
    return float(np.median(walsh_averages(differences)))


@lru_cache(maxsize=LARGEST_EXACT + 1)
def _cumulative(n: int) -> NDArray[np.float64]:
    """P(T <= t), t = 0 .. n(n+1)/2, T the sum of the ranks that n fair coins choose; exact up to n = 50."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    return np.cumsum(counts) / 2.0**n


def lower_tail(n: int, statistic: int) -> float:
    """P(T <= statistic) under the null hypothesis; beyond n = 50 normal with continuity correction."""
    if statistic < 0:
        return 0.0
    if n <= LARGEST_EXACT:
        return float(_cumulative(n)[min(statistic, n * (n + 1) // 2)])
    mean = n * (n + 1) / 4
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return 0.5 * math.erfc(-(statistic + 0.5 - mean) / deviation / math.sqrt(2))


def critical_statistic(n: int, alpha: float) -> int:
    """The largest statistic that rejects at the two-sided level ``alpha``; -1 if none does."""
    return bisect_right(range(n * (n + 1) // 2), alpha, key=lambda statistic: 2 * lower_tail(n, statistic)) - 1


def achieved_level(n: int, alpha: float) -> float:
    """The two-sided level that the test really has with n differences; at most ``alpha``, 0 if it can never reject."""
    return 2 * lower_tail(n, critical_statistic(n, alpha))


def fewest_differences(alpha: float) -> int:
    """The smallest n with which the test can reject at all: 2 / 2^n <= alpha, 6 at 5 %.

    :raises ValueError: if ``alpha`` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"The level is {alpha!r}, but it must lie between 0 and 1; 0.05 is usual.")
    return next(n for n in itertools.count(1) if 2 / 2.0**n <= alpha)


def signed_rank(differences: Sequence[float], alpha: float = 0.05) -> SignedRank:
    """Estimate, interval and p-value of the centre of symmetric differences.

    The interval holds every centre that the test does not reject: from the (k+1)-th smallest to the (k+1)-th largest
    Walsh average, k the critical statistic. Averages equal to the tested centre count for both sides: with ties and
    zeros this is conservative (a tie broken by symmetric noise could only lower the count), and test and interval
    agree in every case.

    :param alpha: two-sided level, for example 0.05.
    """
    n = len(differences)
    if n == 0:
        return SignedRank(None, -math.inf, math.inf, 1.0, 1.0)
    averages = walsh_averages(differences)
    statistic = min(int(np.count_nonzero(averages <= 0)), int(np.count_nonzero(averages >= 0)))
    critical = critical_statistic(n, alpha)
    low, high = -math.inf, math.inf
    if critical >= 0:
        low, high = float(averages[critical]), float(averages[-1 - critical])
    return SignedRank(
        estimate=float(np.median(averages)),
        low=low,
        high=high,
        p=min(1.0, 2 * lower_tail(n, statistic)),
        confidence=1 - 2 * lower_tail(n, critical),
    )


@dataclass(frozen=True)
class HolmStep:
    """What Holm's procedure says of one hypothesis.

    :param adjusted_p: the smallest family-wise level at which this hypothesis is rejected.
    :param level: the level at which an interval for this hypothesis agrees with the procedure's decision.
    :param rejected: whether it is rejected at the family-wise level.
    """

    adjusted_p: float
    level: float
    rejected: bool


def holm(p_values: Sequence[float], alpha: float = 0.05) -> tuple[HolmStep, ...]:
    """Decide over all hypotheses such that the chance of any false rejection is at most ``alpha``.

    The j-th smallest p-value is compared with alpha / (k - j + 1), until one is larger. A rejected hypothesis keeps the
    level of its step; those that are not rejected share the level of the step at which the procedure ended. So an
    interval at that level excludes the null hypothesis exactly if the procedure rejects it. The guarantee is on the
    rejections: the intervals do not cover *all at once* with probability 1 - alpha where several are rejected.

    :param p_values: one per hypothesis, in any order and with any dependence; the answer keeps their order.
    """
    k = len(p_values)
    steps: dict[int, HolmStep] = {}
    adjusted, level, rejecting = 0.0, alpha, True
    for position, (p, index) in enumerate(sorted(zip(p_values, range(k), strict=True))):
        adjusted = max(adjusted, min(1.0, (k - position) * p))
        if rejecting:
            level = alpha / (k - position)
            rejecting = p <= level
        steps[index] = HolmStep(adjusted, level, rejecting)
    return tuple(steps[index] for index in range(k))


EFFICIENCY = 3 / math.pi


def _upper_quantile(probability: float) -> float:
    """The z with P(Z > z) = ``probability`` for a standard normal Z."""
    return -NormalDist().inv_cdf(probability)


def _check(sd: float, power: float) -> None:
    if not (sd >= 0 and math.isfinite(sd)):
        raise ValueError(f"The standard deviation is {sd!r}, but it must be a number of at least 0.")
    if not 0 < power < 1:
        raise ValueError(f"The power is {power!r}, but it must lie between 0 and 1; 0.8 is usual.")


def _blocks(distance: float, sd: float, z_power: float, alpha: float) -> int:
    """The smallest n whose power suffices to tell a centre from another one at ``distance`` (in logs)."""
    # The log of a ratio like 1.000000001 loses half its digits; nobody needs more blocks than this anyway.
    noise = (sd / max(distance, 1e-9)) ** 2

    def needed(level: float) -> float:
        z_alpha = _upper_quantile(level / 2)
        return ((z_alpha + z_power) ** 2 * noise + z_alpha**2 / 2) / EFFICIENCY

    fewest = fewest_differences(alpha)
    for n in range(fewest, LARGEST_EXACT + 1):
        if needed(achieved_level(n, alpha)) <= n:
            return n
    return max(math.ceil(needed(alpha)), LARGEST_EXACT + 1, fewest)


def blocks_for_difference(ratio: float, sd: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Blocks with which a true ``ratio`` is found with probability ``power``.

    :param ratio: contender / baseline, for example 1.05 or 0.95; not 1.
    :param sd: standard deviation of the block log ratios; for independent laps sqrt(2) times that of the laps' logs.
    :param alpha: two-sided level of the verdict (divided by the number of contenders for a cautious plan).
    :raises ValueError: if an argument is out of its range.
    """
    _check(sd, power)
    if not (ratio > 0 and math.isfinite(ratio)) or ratio == 1:
        raise ValueError(f"The ratio is {ratio!r}, but it must be positive and different from 1.")
    return _blocks(abs(math.log(ratio)), sd, _upper_quantile(1 - power), alpha)


def blocks_for_equivalence(
    margin: float, sd: float, ratio: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Blocks with which the interval lies within the margin with probability ``power``, if the truth is ``ratio``.

    With a true ratio of 1 the estimate may err to both sides; nearer to one edge only that edge matters. The larger of
    the two numbers is given.

    :param margin: for example 0.03 for 1/1.03 to 1.03.
    :raises ValueError: if an argument is out of its range or ``ratio`` is not within the margin.
    """
    _check(sd, power)
    edge = math.log1p(margin)
    distance = edge - abs(math.log(ratio))
    if not distance > 0:
        raise ValueError(f"A ratio of {ratio:.4g} is not within {margin:.3g} of 1, so no number of blocks shows it.")
    both_edges = _blocks(edge, sd, _upper_quantile((1 - power) / 2), alpha)
    return max(both_edges, _blocks(distance, sd, _upper_quantile(1 - power), alpha))


def smallest_difference(blocks: int, sd: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest ratio above 1 that ``blocks`` blocks find with probability ``power``; infinite with too few blocks.

    The inverse of ``blocks_for_difference``. 1.05 means: plus 5 %, or down to 1 / 1.05.

    :raises ValueError: if an argument is out of its range.
    """
    _check(sd, power)
    level = achieved_level(blocks, alpha) if blocks <= LARGEST_EXACT else alpha
    if level <= 0:
        return math.inf
    z_alpha = _upper_quantile(level / 2)
    room = blocks * EFFICIENCY - z_alpha**2 / 2
    if room <= 0:
        return math.inf
    exponent = sd * (z_alpha + _upper_quantile(1 - power)) / math.sqrt(room)
    return math.exp(exponent) if exponent < 700 else math.inf
