"""Wilcoxon's signed-rank test turned inside out, with an interval and a p-value that agree; Holm's step-down procedure.

Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd edition, sections 3.1-3.3. The statistic is
counted in Walsh averages (d_i + d_j) / 2, i <= j: the sum of positive ranks is the number of positive averages (Tukey).

Assumption: each difference is distributed symmetrically about the same centre. Coin-flip order within the blocks makes
it so under the null hypothesis, whatever the machine does.

Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 50  # as in scipy: up to here the null distribution is counted out, beyond it is taken as normal


@dataclass(frozen=True)
class SignedRank:
    """What the signed-rank test says of one sample of differences.

    estimate: the Hodges-Lehmann estimate of the centre; None without differences.
    low, high: the interval of the centre; infinite where there are too few differences for the level.
    p: two-sided, of the hypothesis that the centre is 0; p <= alpha exactly if 0 is outside [low, high].
    n: number of differences.
    confidence: what the interval reaches: at least 1 - alpha, because the statistic is discrete.
    """

    estimate: float | None
    low: float
    high: float
    p: float
    n: int
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
    low, high = -1, n * (n + 1) // 2
    while high - low > 1:
        middle = (low + high) // 2
        if 2 * lower_tail(n, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def achieved_level(n: int, alpha: float) -> float:
    """The two-sided level that the test really has with n differences; at most ``alpha``, 0 if it can never reject."""
    return 2 * lower_tail(n, critical_statistic(n, alpha))


def fewest_differences(alpha: float) -> int:
    """The smallest n with which the test can reject at all: 2 / 2^n <= alpha, 6 at 5 %.

    :raises ValueError: if ``alpha`` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"The level is {alpha!r}, but it must lie between 0 and 1; 0.05 is usual.")
    n = 1
    while 2 / 2.0**n > alpha:
        n += 1
    return n


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
        return SignedRank(None, -math.inf, math.inf, 1.0, 0, 1.0)
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
        n=n,
        confidence=1 - 2 * lower_tail(n, critical),
    )


@dataclass(frozen=True)
class HolmStep:
    """What Holm's procedure says of one hypothesis.

    adjusted_p: the smallest family-wise level at which this hypothesis is rejected.
    level: the level at which an interval for this hypothesis agrees with the procedure's decision.
    rejected: whether it is rejected at the family-wise level.
    """

    adjusted_p: float
    level: float
    rejected: bool


def holm(p_values: Sequence[float], alpha: float = 0.05, family: int | None = None) -> tuple[HolmStep, ...]:
    """Decide over all hypotheses such that the chance of any false rejection is at most ``alpha``.

    The j-th smallest p-value is compared with alpha / (k - j + 1), until one is larger. A rejected hypothesis keeps the
    level of its step; those that are not rejected share the level of the step at which the procedure ended. So an
    interval at that level excludes the null hypothesis exactly if the procedure rejects it. The guarantee is on the
    rejections: the intervals do not cover *all at once* with probability 1 - alpha where several are rejected.

    :param p_values: one per hypothesis, in any order and with any dependence; the answer keeps their order.
    :param family: number of hypotheses that share ``alpha``, if larger than the number of ``p_values``: those decided
        elsewhere count as not rejected here, which is conservative.
    :raises ValueError: if ``family`` is smaller than the number of p-values.
    """
    k = len(p_values) if family is None else family
    if k < len(p_values):
        raise ValueError(f"A family of {k} cannot hold {len(p_values)} p-values; leave it out or count all contenders.")
    steps: list[HolmStep | None] = [None] * len(p_values)
    adjusted, level, rejecting = 0.0, alpha, True
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        p = p_values[index]
        adjusted = max(adjusted, min(1.0, (k - position) * p))
        if rejecting:
            level = alpha / (k - position)
            rejecting = p <= level
        steps[index] = HolmStep(adjusted, level, rejecting)
    return tuple(step for step in steps if step is not None)
